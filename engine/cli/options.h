// Options shared by several commands, and validators of their values. Enums have the same spellings as in the
// configuration.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/pinning.h"
#include "engine/cluster/cluster.h"
#include "engine/config/config.h"

namespace slide::cli {

inline constexpr std::uint64_t kMaxK = 10000;
inline constexpr std::uint64_t kMaxItems = 0xfffffffe;  // ids and their number have 32 bits

// An integer from `low` to `high`. CLI11 itself would accept -1 as 2^64 - 1 and 010 as 8.
CLI::Validator whole(std::uint64_t low, std::uint64_t high);

// A finite number; CLI11 would accept "nan" and trailing text.
CLI::Validator finite_number();

// A threshold on scores: a finite number; where it is the name of a file, the message says what files are
// for.
CLI::Validator threshold_score();
// A threshold on probabilities, from 0 to 1.
CLI::Validator threshold_probability();

// A finite number from `low` to `high`.
CLI::Validator number(double low, double high);

// Splits a text at commas; keeps empty parts.
std::vector<std::string> split_list(const std::string& text);
// Adds `name`, a comma-separated list of values, passed to take(). `each` checks each value; CLI11 would drop
// empty ones.
CLI::Option* add_list(CLI::App& app, const char* name, const std::string& meaning, const CLI::Validator& each,
                      const std::function<void(const std::vector<std::string>&)>& take);

// Adds --set, keys of a configuration.
CLI::Option* add_set(CLI::App& app, std::vector<std::string>& set);

// Adds --threads; the second overrides train.threads.
CLI::Option* add_threads(CLI::App& app, int& threads);
CLI::Option* add_train_threads(CLI::App& app, std::optional<std::uint32_t>& threads);
// Adds --pin; pinned() binds `threads` threads to cores during the lifetime of the result, distinct cores for
// the processes of a machine. Throws InputError or Error where that is impossible. Collective.
void add_pin(CLI::App& app, bool& pin);
std::unique_ptr<const Pinning> pinned(bool pin, int threads, Cluster* cluster = nullptr);
// Adds --seed, which overrides train.seed.
CLI::Option* add_train_seed(CLI::App& app, std::optional<std::uint64_t>& seed);

// Add --inference and --rare of a model.
void add_inference(CLI::App& app, std::optional<Inference>& inference);
void add_rare(CLI::App& app, std::optional<double>& rare);
// Add --known and --keep-known, for models of interactions.
void add_known(CLI::App& app, std::string& file);
void add_keep_known(CLI::App& app, bool& keep);
// Adds --labels: a file of label names.
void add_labels(CLI::App& app, std::string& file);
// Adds --titles: a file of titles of items, as ItemTitles reads it.
CLI::Option* add_titles(CLI::App& app, std::string& file);

// Adds --skip-bad.
void add_skip_bad(CLI::App& app, bool& skip_bad);
// --explain, of commands that print JSON.
CLI::Option* add_explain(CLI::App& app, std::uint32_t& features);
// --strict.
void add_strict(CLI::App& app, bool& strict);

// Adds `name`, a data format: a value of data.format except auto.
void add_format(CLI::App& app, const char* name, const char* meaning, std::optional<DataFormat>& format);

// The overrides of a configuration, "key=value" in order, from `overrides` and the options above.
std::vector<std::string> with_train_keys(std::vector<std::string> overrides,
                                         const std::optional<std::uint32_t>& threads,
                                         const std::optional<std::uint64_t>& seed);

}  // namespace slide::cli
