#include "engine/cli/warnings.h"

#include "engine/base/error.h"
#include "engine/cli/text.h"

namespace slide::cli {

void Warnings::add(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    if (strict_) fail_input("{} (an error by --strict)", warning);
    if (told_.insert(warning).second) tell({"warning: " + warning});
  }
}

}  // namespace slide::cli
