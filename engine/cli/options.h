// Options that several commands have, and what their values may be. The words of enums and their order are
// those of the configuration.
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

// A whole number from `low` to `high`. The library itself would take -1 for 2^64 - 1 and 010 for 8.
CLI::Validator whole(std::uint64_t low, std::uint64_t high);

// A number; the library would take "nan" and trailing text.
CLI::Validator finite_number();

// The same from `low` to `high`.
CLI::Validator number(double low, double high);

// The parts of a text between its commas, empty ones too.
std::vector<std::string> parted(const std::string& text);
// `name`, a list of values with commas between them, which take() gets. `each` checks one of them: the
// library would leave out those that are empty.
CLI::Option* add_list(CLI::App& app, const char* name, const std::string& meaning, const CLI::Validator& each,
                      const std::function<void(const std::vector<std::string>&)>& take);

// --set, keys of a configuration.
CLI::Option* add_set(CLI::App& app, std::vector<std::string>& set);

// --threads, and where it stands for the key of a configuration.
CLI::Option* add_threads(CLI::App& app, int& threads);
CLI::Option* add_train_threads(CLI::App& app, std::optional<std::uint32_t>& threads);
// --pin, and what it asks for: while the result exists, `threads` threads are bound to cores, of several
// processes of a machine each to its own. Throws InputError or Error where that is not possible. Collective.
void add_pin(CLI::App& app, bool& pin);
std::unique_ptr<const Pinning> pinned(bool pin, int threads, Cluster* cluster = nullptr);
// --seed in place of train.seed.
CLI::Option* add_train_seed(CLI::App& app, std::optional<std::uint64_t>& seed);

// --inference and --labels of a model.
void add_inference(CLI::App& app, std::optional<Inference>& inference);
// Of models of interactions: --known and --keep-known.
void add_known(CLI::App& app, std::string& file);
void add_keep_known(CLI::App& app, bool& keep);
void add_labels(CLI::App& app, std::string& file);

// --skip-bad.
void add_skip_bad(CLI::App& app, bool& skip_bad);

// `name`, the format of some data: a word of data.format but for auto.
void add_format(CLI::App& app, const char* name, const char* meaning, std::optional<DataFormat>& format);

// What `overrides` and the options above make of a configuration: "key=value", in order.
std::vector<std::string> with_train_keys(std::vector<std::string> overrides,
                                         const std::optional<std::uint32_t>& threads,
                                         const std::optional<std::uint64_t>& seed);

}  // namespace slide::cli
