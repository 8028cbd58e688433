// The folder of a training run: the names of its files, how a run begins in it and how one goes on. For one thread,
// and one process at a time in a folder.
#pragma once

#include <filesystem>
#include <string>

#include "engine/config.h"

namespace slide::cli {

class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::string name() const { return folder_.string(); }
  std::string config() const { return file("config.toml"); }
  std::string log() const { return file("metrics.jsonl"); }
  std::string model() const { return file("model.slide"); }
  std::string best_model() const { return file("best-model.slide"); }
  std::string checkpoint() const { return file("checkpoint.slide"); }
  std::string environment() const { return file("environment.json"); }

  // A new run: the folder, config.toml and no checkpoint. Throws Error when the folder cannot be written.
  void begin(const Config& config) const;
  // Removes what a killed process left half-written.
  void tidy() const;
  // Says with which program and on which machine the run is made; `finished` tells a complete run.
  void write_environment(int threads, bool finished) const;
  bool has_checkpoint() const;
  bool is_finished() const;

 private:
  std::string file(const char* name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

}  // namespace slide::cli
