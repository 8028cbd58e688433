// The log of interactions that a model names for what users have already. A model may come from anywhere, so
// the file that it names is looked at before it is opened. Safe from any thread.
#pragma once

#include <string>
#include <vector>

#include "engine/model/model.h"

namespace slide {

// Where a registry keeps the configuration of the run that made its model NAME.slide: NAME.run.toml beside
// it.
std::string kept_config(const std::string& model);
// The configuration of the run that made the model file at `path`: config.toml in its folder, or
// kept_config(); empty where neither is a regular file.
std::string run_config_of(const std::string& path);

// The log in which users of a model of interactions are looked up: the log of --known, else data.known or
// data.train of the model; empty where the model names none. A log that the model names must be a regular
// file, and run_config_of() the model must name the same files, or this throws InputError; neither holds for
// --known.
std::string users_log(const Model& model);

// users_log() for predictions that work without a log: where the log cannot be used, adds the reason to
// `notes` and returns an empty path. Throws InputError where a file of --known is not there.
std::string usable_users_log(const Model& model, std::vector<std::string>& notes);

// Whether `path` is the log that the model was trained on, and --known names no other one: read_test_data()
// then gives the items that training held out of it.
bool tests_own_log(const std::string& path, const Model& model);

}  // namespace slide
