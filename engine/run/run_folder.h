// The folder of a training run: the names of its files, how a run begins in it and how one goes on. For one
// thread, and one process at a time in a folder.
#pragma once

#include <filesystem>
#include <string>

#include "engine/config/config.h"

namespace slide {

class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  std::string name() const { return folder_.string(); }
  std::string config() const { return file("config.toml"); }
  std::string log() const { return file("metrics.jsonl"); }
  std::string model() const { return file("model.slide"); }
  std::string best_model() const { return file("best-model.slide"); }
  std::string checkpoint() const { return file("checkpoint.slide"); }
  std::string environment() const { return file("environment.json"); }

  // Keeps other processes out of the folder, if there is one, until this object or the process ends, however
  // it ends. A second call does nothing. Throws InputError when another process has it. Where the file system
  // knows no locks, nobody is kept out.
  void claim();
  // A new run: the folder, claimed, with config.toml and no checkpoint. Throws Error when the folder cannot
  // be written.
  void begin(const Config& config);
  // Removes what a killed process left half-written.
  void tidy() const;
  // Says with which program and on which machine the run is made; `finished` tells a complete run.
  void write_environment(int threads, bool finished) const;
  bool has_checkpoint() const;
  bool is_finished() const;

 private:
  std::string file(const char* name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
  int lock_ = -1;  // the open folder, locked
};

}  // namespace slide
