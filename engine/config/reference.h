// The reference of the configuration: what every key is. Pure functions, safe from any thread.
#pragma once

#include <string>
#include <vector>

namespace slide {

struct KeyInfo {
  std::string name;  // "train.epochs", "layer.size", "layer.hash.k"
  std::string type;
  std::string range;          // empty: any value
  std::string value;          // the default, as TOML
  std::string value_of_last;  // of the last layer, where it differs
  std::string meaning;
};

// Every key, in the order of a file.
std::vector<KeyInfo> config_keys();

// The key of this name, or all of this section, as "train"; layers may have numbers, as "layer.-1.size".
// Takes former names. Throws InputError with the nearest name where there is none.
std::vector<KeyInfo> config_keys(const std::string& name);

// Markdown table of every key with type, default, range and meaning.
std::string config_reference();

}  // namespace slide
