// Source of a command: data, a configuration, or both. One thread.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/config.h"

namespace slide::cli {

// Command line arguments that form a configuration, in increasing precedence: file or defaults, data, --set,
// options for single keys.
struct Source {
  std::string name;     // data or a configuration; may be empty
  std::string config;   // --config: certainly a configuration; `name` is then certainly data
  std::string test;     // --test
  std::string init;     // --init: the model whose settings replace the defaults
  std::string vectors;  // --vectors
  std::vector<std::string> set;
  std::optional<std::uint32_t> epochs, threads, forget;
  std::optional<std::uint64_t> seed;
};

// Adds the argument `name` with description `what`, --config and --set.
CLI::Option* add_source(CLI::App& app, Source& source, const char* name, const char* what);
// Throws CLI::RequiredError where none of them was given.
void require_source(const Source& source, const char* what);
// Adds --test, which overrides data.test.
CLI::Option* add_test_data(CLI::App& app, std::string& test);
// Adds --init and --forget, which override train.init and train.expire_labels.
void add_init(CLI::App& app, Source& source);
// Adds --vectors, which overrides train.vectors.
void add_vectors_start(CLI::App& app, Source& source);
// Adds --epochs, which overrides train.epochs.
CLI::Option* add_train_epochs(CLI::App& app, std::optional<std::uint32_t>& epochs);

// Whether `name` is a model, or should be treated as one: a folder, or a missing file with a model-like name.
bool names_model(const std::string& name);

// Whether the source's name is a configuration: it ends in .toml, or its first meaningful line is TOML,
// `[section]` or `key = value`; with --config it is data. An empty file is a configuration where --set gives
// data.train. Throws InputError where the file does not exist, is a folder, or is data although --set gives
// data.train.
bool is_config(const Source& source);

// A configuration and the given keys ("key=value", in order), data included.
struct Sourced {
  Config config;
  std::vector<std::string> given;
};
// Resolves the configuration with absolute data paths. Throws InputError, with advice where is_config() may
// have guessed wrong.
Sourced resolve(const Source& source);

// Default name of a result: the name of the configuration file, or else of the data.
std::string default_name(const Source& source, const Config& config);

}  // namespace slide::cli
