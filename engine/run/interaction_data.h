// Reads interaction logs (implicit feedback) for runs and models: one row per user, with input items and
// target items. Safe from any thread.
#pragma once

#include <functional>
#include <string>

#include "datasets/formats/interactions.h"
#include "datasets/rows/read_options.h"
#include "datasets/rows/read_report.h"
#include "engine/config/config.h"
#include "engine/run/run_sets.h"

namespace slide {

// Whether data.train is an interaction log: data.kind says so, or leaves it open and the file has that
// format. Throws InputError where keys for interaction logs are set for other data.
bool is_interactions(const DataConfig& config);

// Throws InputError where layer.-1.wide_ridge is set, for data that are not clearly an interaction log.
void require_no_ridge(const Config& config);

// Options for reading the lines of an interaction log.
LogOptions log_options(const DataConfig& config);

// Reads the data of a run with `options`, which contain the items. A sample of data.test or of a
// data.validation file is a user: its features are the user's items in data.known (else data.train), its
// labels the items in that file. With data.test_newest or data.test_after, the test items are the items that
// LogOptions::hold_out selects.
RunData read_interaction_data(const DataConfig& config, const ReadOptions& options);

// Users to predict for. Not copyable.
struct AskedUsers {
  Dataset rows;  // without labels
  LogUsers users;
  ReadReport report;
  std::size_t without_items = 0;       // users
  std::vector<std::string> without{};  // the names of the first kShown of these
  std::string of_known{};              // a warning of the log of what users have; or ""
  static constexpr std::size_t kShown = 3;
};

// Sets `asked` to the users that `read` returns, with the items that they have besides in the log at `known`
// (empty: none); an item in both counts once, with the larger weight. `options` contain the items. `read`
// returns values that are not normalised; asked.rows are normalised as options.normalize says. Rows are in
// the order in which users first occur.
using ReadAsked = std::function<Dataset(const ReadOptions& options)>;
void read_asked_users(const ReadAsked& read, const std::string& known, const ReadOptions& options,
                      AskedUsers& asked);

// One sample of each user that users_to_mask() names: labels are the items that are masked, with the
// probability of training; features are the other items.
Dataset masked_once(const Dataset& users, const Config& config);

// Users to measure predictions for. Not copyable.
struct HeldOutUsers {
  Dataset rows;    // features are what a user has, labels what is to be predicted
  NameList users;  // of the rows, which stand in the order of these names
};

// Reads target items for users with input items in the file `known`. `options` contain the items; with
// options.unknown_labels, target items that they lack count, too. Throws InputError.
void read_held_out(const ReadAsked& read, const std::string& known, const ReadOptions& options,
                   HeldOutUsers& held_out);

// Whether `path` is the training log of a model whose training held items out of it (data.test_newest,
// data.test_after).
bool is_own_log(const std::string& path, const DataConfig& config);
// The samples that training held out of its log at `path`, as it measures on them: features are the other
// items of a user. Throws InputError.
Dataset read_own_held_out(const std::string& path, const DataConfig& config, const ReadOptions& options);

}  // namespace slide
