// What the Python package does with a model file: the interpreter is part of this program, and so are the
// sources of the module, under the sanitizers of the build. One thread; not before a fork.
#pragma once

#include <string>

#include "tests/fuzz/model_uses.h"

namespace slide::fuzz {

// Whether this build has Python with NumPy and SciPy, and pybind11.
bool has_python();

// Lets model_python.py use the model; false where it is refused by slide.Error, whose line is in `message`.
bool use_python(const ModelCase& the_case, std::string& message);

}  // namespace slide::fuzz
