#include "engine/model/run_paths.h"

#include <system_error>

#include "engine/base/error.h"
#include "engine/model/registry.h"

namespace slide {

// The model file that a path stands for: the current one of a registry, the best or last one of a run, or the
// path itself.
std::string model_at(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  if (is_registry(path)) return current_model(path);
  const RunPaths folder(path);
  const bool has_best = std::filesystem::exists(folder.best_model(), ignored);
  const bool is_run = std::filesystem::exists(folder.config(), ignored);
  // While a run has not ended, its model is not known.
  if (std::filesystem::exists(folder.model(), ignored))
    return has_best ? folder.best_model() : folder.model();
  if (has_best && !is_run) return folder.best_model();
  if (is_run) {
    fail_input(
        "{}: the run in this folder has no model yet; wait for its end, or go on with it: slide train "
        "--resume {}",
        path, path);
  }
  fail_input(
      "{}: this folder holds no run and no registry of models; name the one that 'slide train' wrote to, "
      "or a model file",
      path);
}

}  // namespace slide
