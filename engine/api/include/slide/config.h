// What a training run is told: the keys of the TOML file that `slide train` takes. `slide config --doc` lists
// them.
//
// A value: copies are independent and cheap. Any number of threads may read one Config; set() needs it alone.
#pragma once

#include <slide/export.h>

#include <memory>
#include <string>
#include <vector>

namespace slide::api {

class SLIDE_API Config {
 public:
  struct Impl;  // of the library

  // Overrides are written "section.key=value", as after --set: "train.epochs=3", "layer.0.size=64",
  // "data.train=x.txt". The rules between keys are checked when all are applied. Throws InputError that names
  // the key.
  using Overrides = std::vector<std::string>;

  // The defaults.
  explicit Config(const Overrides& overrides = {});
  // From a TOML file; the paths of its data become absolute.
  static Config load(const std::string& path, const Overrides& overrides = {});
  static Config from_toml(const std::string& text, const Overrides& overrides = {});

  void set(const Overrides& overrides);
  // Every key, such that from_toml() gives the same configuration back.
  std::string to_toml() const;

 private:
  friend struct Internals;
  explicit Config(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace slide::api
