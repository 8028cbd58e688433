// Reads interaction logs (implicit feedback) for runs and models: one row per user, with input items and
// target items. Safe from any thread.
#pragma once

#include <functional>
#include <string>

#include "datasets/interactions.h"
#include "datasets/read_options.h"
#include "datasets/read_report.h"
#include "engine/config/config.h"
#include "engine/run/run_sets.h"

namespace slide {

// Whether data.train is an interaction log: data.kind says so, or leaves it open and the file has that
// format. Throws InputError where keys for interaction logs are set for other data.
bool is_interactions(const DataConfig& config);

// How its lines are read.
LogOptions log_options(const DataConfig& config);

// The data of a run, read by `options`, which have the items. Of data.test and a file of data.validation, a
// sample is a user with the items that it has in data.known, or else in data.train, for features, and those
// of the file for labels. With data.test_newest the newest item of each user is its test.
RunData read_interaction_data(const DataConfig& config, const ReadOptions& options);

// Users to predict for. Not copyable.
struct AskedUsers {
  Dataset rows;  // without labels
  LogUsers users;
  ReadReport report;
};

// What has been read of users to predict for, its values as they are, and what they have besides in the log
// at `known` (empty: nothing): an item of both counts once, by its larger weight. Read by `options`, which
// have the items. Rows stand in the order in which users first occur.
using ReadAsked = std::function<Dataset(const ReadOptions& options)>;
void read_asked_users(const ReadAsked& read, const std::string& known, const ReadOptions& options,
                      AskedUsers& asked);

// Samples for users of whom nothing is known but some of their items: of each row, labels drawn from the
// items as training draws them, and the others for features. Those with less than two items are left out.
Dataset half_hidden(const Dataset& users, const Config& config);

// Target items in the file `path` for users with input items in the file `known`. `options` contain the
// items.
Dataset read_held_out(const std::string& path, const std::string& known, const ReadOptions& options);

}  // namespace slide
