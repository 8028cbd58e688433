// Tables of all configuration keys: name, member, range and meaning, each stated once, in fields.cpp. Parser,
// overrides, range checks, resolved file and reference iterate over these tables; a new key is one line there
// and one member in settings.h.
//
// Fields point into one Config and must not outlive it. Not thread-safe beyond the Config itself. Internal to
// the configuration library and to code that iterates over its keys.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/field.h"
#include "engine/config/settings.h"

namespace slide::config {

struct Section {
  std::string name;     // prefix of its keys: "train", "layer.0", "layer.0.hash"
  std::string heading;  // as in the file: "[train]", "[[layer]]", "[layer.hash]"
  std::vector<Field> fields;
};

// [data], [text], [train], [optimizer], [loss], [eval], [neighbours].
std::vector<Section> plain_sections(Config& config);

// [[layer]] and its [layer.hash], in this order; `name` is the prefix of the layer's keys.
std::vector<Section> layer_sections(LayerConfig& layer, const std::string& name);

// All sections, with layers named layer.0, layer.1, ...
std::vector<Section> all_sections(Config& config);

// "layer.<index>"
std::string layer_name(std::size_t index);

// The field of a section, or nullptr.
const Field* find_field(const Section& section, std::string_view key);

// A renamed key within a section: "train.was", "train.is"; "layer.hash.was" applies to every layer.
struct Renamed {
  std::string_view was;
  std::string_view is;
};

// Old names that files, overrides and stored configurations may still use.
std::span<const Renamed> renamed_keys();

// The field of a full name such as "train.epochs" or "layer.1.hash.k", or nullptr.
const Field* find_field(std::span<const Section> sections, std::string_view name);

// The same among all sections; for many names, build the sections once.
std::optional<Field> find_field(Config& config, std::string_view name);

}  // namespace slide::config
