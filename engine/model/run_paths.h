// Paths of the files in the folder of a training run. Immutable, safe from any thread.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace slide {

class RunPaths {
 public:
  explicit RunPaths(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::string name() const { return folder_.string(); }
  std::string config() const { return file("config.toml"); }
  std::string log() const { return file("metrics.jsonl"); }
  // For TensorBoard, with train.tensorboard.
  std::string events() const { return file("events.out.tfevents.slide"); }
  std::string model() const { return file("model.slide"); }
  std::string best_model() const { return file("best-model.slide"); }
  std::string checkpoint() const { return file("checkpoint.slide"); }
  // For incremental runs with a checkpoint: the model at the start.
  std::string start() const { return file("start.slide"); }
  std::string environment() const { return file("environment.json"); }
  // The run that was in this folder before, finished.
  std::string previous() const { return file("previous"); }

 protected:
  std::string file(const char* name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

// The model file of `path`: a file, a run folder, whose model is taken, or a registry (registry.h), whose
// current one is. Throws InputError where the folder has none.
std::string model_at(const std::string& path);

}  // namespace slide
