// Model files of tiny networks, trained for one step. One thread.
#pragma once

#include <string>
#include <vector>

#include "engine/config/config.h"

namespace slide::fuzz {

// Labelled text.
inline constexpr const char* kTinyText =
    "gärten\troses and tulips\nmusic\ta violin, a cello\ndeep \"learning\"\tnetworks of neurons\n"
    "gärten,music\ttulips and a choir\nmusic\ta choir sings\ndeep \"learning\"\ta gradient of networks\n";

// Trained on tiny_data().
void save_feature_model(const std::string& path, const Config& config);
// Trained on kTinyText.
void save_text_model(const std::string& path, const Config& config);

}  // namespace slide::fuzz
