// Tiny served models, one trained on features, one on text. Created once per process.
#pragma once

#include <array>

#include "engine/serve/served_model.h"

namespace slide::fuzz {

const std::array<std::shared_ptr<const serve::ServedModel>, 2>& served_models();

}  // namespace slide::fuzz
