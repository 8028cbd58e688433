#include "engine/run/users_log.h"

#include <fmt/format.h>

#include <filesystem>

#include "datasets/rows/data_parts.h"
#include "engine/base/error.h"
#include "engine/config/config.h"
#include "engine/model/run_paths.h"
#include "engine/run/interaction_data.h"
#include "engine/run/known_users.h"

namespace slide {

namespace {

namespace fs = std::filesystem;

// Whether the model file lies beside the configuration of the run that made it.
bool is_in_its_run(const Model& model) {
  const std::string config = run_config_of(model.path);
  if (config.empty()) return false;
  try {
    std::vector<std::string> notes;
    const DataConfig data = load_stored_config(config, notes).data;
    return data.train == model.config.data.train && data.known == model.config.data.known;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

std::string kept_config(const std::string& model) {
  return fs::path(model).replace_extension(".run.toml").string();
}

std::string run_config_of(const std::string& path) {
  std::error_code error;
  for (const std::string& config : {kept_config(path), RunPaths(fs::path(path).parent_path()).config()}) {
    if (fs::is_regular_file(config, error)) return config;
  }
  return {};
}

std::string users_log(const Model& model) {
  const std::string& log = log_of_users(model.config.data);
  if (model.known_given || log.empty()) return log;
  for (const std::string& part : parts_of(log)) {
    std::error_code error;
    if (fs::exists(part, error) && !fs::is_regular_file(part, error))
      fail_input("{}: the model names {} as the log of its users, which is no regular file; name a log by {}",
                 model.path, part, model.known_option);
  }
  if (!is_in_its_run(model)) {
    fail_input(
        "{}: the model names {} as the log of its users, which is read only for a model in the folder of "
        "its run or in a registry; name it by {}",
        model.path, log, model.known_option);
  }
  return log;
}

std::string usable_users_log(const Model& model, std::vector<std::string>& notes) {
  if (const auto missing = missing_part(log_of_users(model.config.data))) {
    if (model.known_given) fail_input("{}: there is no such file; name a log by --known", *missing);
    notes.push_back(users_not_looked_up(*missing));
    return {};
  }
  try {
    return users_log(model);
  } catch (const InputError& error) {  // users have only the items that the input names
    notes.push_back(fmt::format("users are not looked up; {}", error.what()));
    return {};
  }
}

bool tests_own_log(const std::string& path, const Model& model) {
  return !model.known_given && is_own_log(path, model.config.data);
}

}  // namespace slide
