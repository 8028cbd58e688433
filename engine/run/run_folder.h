// The folder of a training run: the names of its files, how a run begins in it and how one goes on. For one
// thread, and one process at a time in a folder.
//
// Wherever a process is killed, the folder tells the truth: environment.json says that a run is finished only
// while config.toml, or none, and model.slide are those of that run.
#pragma once

#include <filesystem>
#include <span>
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
  // Of a run that goes on from a model, and that has a checkpoint: what it began with.
  std::string start() const { return file("start.slide"); }
  std::string environment() const { return file("environment.json"); }

  // Keeps other processes out of the folder, if there is one, until this object or the process ends, however
  // it ends. A second call does nothing. Throws InputError when another process has it. Where the file system
  // knows no locks, nobody is kept out.
  void claim();
  // Before a run that begins anew, and before its data are read: claims the folder, and makes none. Throws
  // InputError where there cannot be one or, unless it may be replaced, a run is there that is finished or
  // can be gone on with, or a model alone, Error where nothing can be written.
  void require_free(bool replace);
  // A new run: the folder, claimed, with config.toml and an environment.json that calls it unfinished, and
  // nothing else of a run before. A finished one is kept in the folder previous(), in place of the one there;
  // whether there was one. Throws Error when the folder cannot be written.
  bool begin(const Config& config, int threads);
  std::string previous() const { return file("previous"); }
  // The model file that a run in this folder goes on from, which `init` names: where that is the run that was
  // here before and lies in previous() now, there.
  std::string model_before(const std::string& init) const;
  // Removes what a killed process left half-written.
  void tidy() const;
  // Says with which program and on which machine the run is made; `finished` tells a complete run.
  void write_environment(int threads, bool finished) const;
  bool has_checkpoint() const;
  bool is_finished() const;
  // Whether there is a finished run, which begin() would keep in previous().
  bool has_finished() const;
  // Whether there is a run that has a checkpoint to go on from.
  bool has_stopped() const;
  // A file of these that holds a model and would be replaced; empty where there is none.
  std::string any_model() const;

 private:
  std::string file(const char* name) const { return (folder_ / name).string(); }
  void require_writable() const;
  bool keep_finished() const;

  std::filesystem::path folder_;
  int lock_ = -1;  // the open folder, locked
};

// The model file that `path` names: of a folder, the best model by validation of the run in it, or where the
// run had no validation the one at its end. Throws InputError where the folder holds none.
std::string model_at(const std::string& path);

}  // namespace slide
