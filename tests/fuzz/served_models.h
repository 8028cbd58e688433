// Tiny models to ask: one trained on features, one on text. Made once a process.
#pragma once

#include <array>

#include "engine/serve/served_model.h"

namespace slide::fuzz {

const std::array<std::shared_ptr<const serve::ServedModel>, 2>& served_models();

}  // namespace slide::fuzz
