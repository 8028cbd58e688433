// Keys that have no effect beside the configuration's other keys. Pure functions, safe from any thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/config/settings.h"

namespace slide {

// A sentence for each key that makes others have no effect, with these: "optimizer.momentum has no effect in
// training where optimizer.kind = "adagrad"". Keys with their defaults are not named, nor with
// 0 or false, nor those of a file where an override turned off what they belong to. `overridden`: full names
// of the keys that overrides gave. Keys whose effect depends on the data (as those of [text]) are not looked
// at.
std::vector<std::string> unused_keys(const Config& config, const std::set<std::string>& overridden);

}  // namespace slide
