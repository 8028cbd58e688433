// Folder of a training run: file names, start and resumption. One thread, and one process at a time per
// folder.
//
// Crash safety: at any kill, the folder is consistent: environment.json marks a run finished only while
// config.toml (if present) and model.slide belong to that run.
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
  // For incremental runs with a checkpoint: the model at the start.
  std::string start() const { return file("start.slide"); }
  std::string environment() const { return file("environment.json"); }

  // Locks the folder, if it exists, until this object is destroyed or the process ends; repeated calls have
  // no effect. Throws InputError where another process holds it. Without support of the file system there is
  // no exclusion.
  void claim();
  // Before a new run reads its data: claims the folder without creating it. Throws InputError where it cannot
  // exist or, unless `replace`, where it has a finished or resumable run; Error where it is not writable.
  void require_free(bool replace);
  // Starts a new run: creates and claims the folder, writes config.toml and an environment.json that marks it
  // unfinished, and removes other files of the previous run. A finished previous run moves to the folder
  // previous(), replacing its content; returns whether it did. Throws Error where the folder is not writable.
  bool begin(const Config& config, int threads);
  std::string previous() const { return file("previous"); }
  // The model file `init` from which a run in this folder continues; where `init` names the run that was in
  // this folder and is now in previous(), the file there.
  std::string model_before(const std::string& init) const;
  // Removes partial files of killed processes.
  void tidy() const;
  // Records program and machine of the run; `finished` marks a complete run.
  void write_environment(int threads, bool finished) const;
  bool has_checkpoint() const;
  bool is_finished() const;
  // Whether the folder has a finished run, which begin() would move to previous().
  bool has_finished() const;
  // Whether the folder has a run that can resume from a checkpoint.
  bool has_stopped() const;
  // A file of these that holds a model and would be replaced; empty where there is none.
  std::string any_model() const;

 private:
  std::string file(const char* name) const { return (folder_ / name).string(); }
  void require_writable() const;
  bool keep_finished() const;

  std::filesystem::path folder_;
  int lock_ = -1;  // descriptor of the folder, locked
};

// The model file of `path`: a file, or a run folder, whose model is taken. Throws InputError where the folder
// has none.
std::string model_at(const std::string& path);

}  // namespace slide
