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
#include "engine/model/run_paths.h"

namespace slide {

class RunFolder : public RunPaths {
 public:
  using RunPaths::RunPaths;
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

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
  void require_writable() const;
  bool keep_finished() const;

  int lock_ = -1;  // descriptor of the folder, locked
};

}  // namespace slide
