// What a command trains on or looks at: data, a configuration, or both. For one thread.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/config.h"

namespace slide::cli {

// The words of a command line that make a configuration, in the order in which they hold: file or defaults,
// data, --set, and the options that stand for a key.
struct Source {
  std::string name;     // data or a configuration, whichever it is; may be empty
  std::string config;   // --config: a configuration for sure; then `name` is data for sure
  std::string test;     // --test
  std::string init;     // --init: the model whose settings hold in place of the defaults
  std::string vectors;  // --vectors
  std::vector<std::string> set;
  std::optional<std::uint32_t> epochs, threads, forget;
  std::optional<std::uint64_t> seed;
};

// The argument `name`, which says `what` it is, --config and --set.
CLI::Option* add_source(CLI::App& app, Source& source, const char* name, const char* what);
// Throws CLI::RequiredError where none of them was given.
void require_source(const Source& source, const char* what);
// --test in place of data.test.
CLI::Option* add_test_data(CLI::App& app, std::string& test);
// --init and --forget in place of train.init and train.expire_labels.
void add_init(CLI::App& app, Source& source);
// --vectors in place of train.vectors.
void add_vectors_start(CLI::App& app, Source& source);
// --epochs in place of train.epochs.
CLI::Option* add_train_epochs(CLI::App& app, std::optional<std::uint32_t>& epochs);

// Whether `name` is a model, or is to be taken for one: a folder, and a file that is not there but sounds
// like it.
bool names_model(const std::string& name);

// Whether `name` is a configuration: where it ends in .toml, and where its first line that says anything is
// one of TOML, `[section]` or `key = value`; beside --config it is data. A file that says nothing is one
// where --set gives data.train. Throws InputError when there is no such file, it is a folder, or it is data
// beside those.
bool is_config(const Source& source);

// A configuration and the keys that were given beside it ("key=value", in order), data among them.
struct Sourced {
  Config config;
  std::vector<std::string> given;
};
// The paths of the data are absolute. Throws InputError, with what to say where the guess of is_config() may
// be why.
Sourced resolve(const Source& source);

// What a result is called by default: the name of the configuration file, or without one that of the data.
std::string default_name(const Source& source, const Config& config);

}  // namespace slide::cli
