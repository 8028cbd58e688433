// A build without Python.
#include "tests/fuzz/model_python.h"

namespace slide::fuzz {

bool has_python() {
  return false;
}

bool use_python(const ModelCase& /*the_case*/, std::string& /*message*/) {
  return false;
}

}  // namespace slide::fuzz
