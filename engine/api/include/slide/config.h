// Configuration of a training run: the keys of the TOML file of `slide train`. `slide config --doc` lists
// them.
//
// A value type: copies are independent and cheap. Concurrent reads are safe; set() is not.
#pragma once

#include <slide/export.h>

#include <memory>
#include <string>
#include <vector>

namespace slide::api {

class SLIDE_API Config {
 public:
  struct Impl;  // internal

  // Overrides "section.key=value", as after --set: "train.epochs=3", "layer.0.size=64", "data.train=x.txt".
  // Constraints between keys are checked after all overrides are applied. Throws InputError that names the
  // key, as do all functions below.
  using Overrides = std::vector<std::string>;

  // The defaults, with overrides.
  explicit Config(const Overrides& overrides = {});
  // Reads a TOML file; relative data paths become absolute.
  static Config load(const std::string& path, const Overrides& overrides = {});
  static Config from_toml(const std::string& text, const Overrides& overrides = {});

  void set(const Overrides& overrides);
  // All keys; from_toml() restores the same configuration.
  std::string to_toml() const;

 private:
  friend struct Internals;
  explicit Config(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

// The element of `names` that a misspelt `name` probably means: the nearest one, of which at most half of the
// letters differ; empty where there is none.
SLIDE_API std::string near_name(const std::string& name, const std::vector<std::string>& names);

}  // namespace slide::api
