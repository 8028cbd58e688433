#include "engine/run/interaction_data.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "datasets/formats/detect.h"
#include "datasets/formats/held_out.h"
#include "datasets/formats/item_masking.h"
#include "datasets/formats/log_columns.h"
#include "datasets/formats/log_layout.h"
#include "datasets/reader.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/unknown_labels.h"
#include "engine/base/error.h"
#include "engine/run/known_users.h"

namespace slide {

namespace {

// An interaction log and its users, in row order.
struct Users {
  Dataset rows;
  LogUsers users;
};

void read_users(ReadOptions options, ReadReport& report, Users& log, const ReadAsked& read) {
  options.format = DataFormat::kInteractions;
  options.log.rows_by_name = true;
  options.users = &log.users;
  options.report = &report;
  log.rows = read(options);
}

void read_users(const std::string& path, const ReadOptions& options, ReadReport& report, Users& log) {
  read_users(options, report, log, [&](const ReadOptions& reading) { return read_dataset(path, reading); });
}

}  // namespace

// By the configuration, else by the content of data.train. Throws where a key needs a log and there is none.
bool is_interactions(const DataConfig& config) {
  const bool open = config.kind == DataKind::kAuto && !config.train.empty();
  const bool configured = config.kind == DataKind::kInteractions ||
                          config.format == DataFormat::kInteractions ||
                          (config.kind == DataKind::kAuto && (!config.user.empty() || !config.item.empty()));
  const bool found = open && config.format == DataFormat::kAuto && config.text.empty() &&
                     detect_file(config.train) == DataFormat::kInteractions;
  if (configured || found) return true;
  if (!config.weight.empty() && config.text.empty())
    fail_input(
        "data.weight = {} names a column of a table, whose columns data.text and data.labels name, or of a "
        "log, "
        "which {} is not clearly; if it is, set data.kind=interactions",
        config.weight, config.train.empty() ? "data.train" : shown_path(config.train));
  if (config.known.empty() && !config.test_newest.wanted() && config.log == LogForm::kAuto) return false;
  fail_input(
      "{} is for interactions, but {} is not clearly a log of these; if it is, set data.kind=interactions",
      !config.known.empty()         ? "data.known"
      : config.test_newest.wanted() ? "data.test_newest"
                                    : "data.log",
      config.train.empty() ? "data.train" : shown_path(config.train));
}

void require_no_ridge(const Config& config) {
  const double ridge = config.layers.back().wide_ridge;
  if (ridge == 0 || config.data.train.empty()) return;
  fail_input(
      "layer.-1.wide_ridge = {} is for interactions, but {} is not clearly a log of these; if it is, set "
      "data.kind=interactions",
      ridge, shown_path(config.data.train));
}

namespace {

// Moves the held-out items of users into the test.
void hold_out(const DataConfig& config, const Users& train, RunData& run) {
  const std::string log = shown_path(config.train);
  const bool later = !config.test_after.empty();
  if (later && train.users.times().empty())
    fail_input("data.test_after = {}, but {} has no times; name their column by data.time", config.test_after,
               log);
  if (!later && !train.users.knows_newest())
    fail_input(
        "data.test_newest, but {} has no times; name their column by data.time, or say "
        "data.time=order if a user's later lines and items are the newer ones",
        log);
  HeldOutApart apart = held_out_apart(train.rows, train.users, config.normalize, later);
  if (later && apart.test.size() == 0)
    fail_input("data.test_after = {}: {} has nothing from that time on; give an earlier one",
               config.test_after, log);
  if (later && apart.rest.label_entries() == 0)
    fail_input("data.test_after = {}: {} has nothing before that time; give a later one", config.test_after,
               log);
  run.train = std::move(apart.rest);
  run.test = std::move(apart.test);
}

}  // namespace

bool is_own_log(const std::string& path, const DataConfig& config) {
  std::error_code ignored;
  return config.kind == DataKind::kInteractions && log_options(config).hold_out.wanted() &&
         std::filesystem::equivalent(path, config.train, ignored);
}

// Reads the log as training did, and holds out the same items.
Dataset read_own_held_out(const std::string& path, const DataConfig& config, const ReadOptions& options) {
  RunData run;
  Users log;
  ReadOptions of_training = options;
  of_training.unknown_labels = nullptr;
  read_users(path, of_training, run.train_report, log);
  hold_out(config, log, run);
  if (options.report != nullptr) *options.report = std::move(run.train_report);
  return std::move(*run.test);
}

// Reads training users, moves held-out items into the test, and reads users of test and validation files,
// whose input items are those of data.known, or else of data.train.
RunData read_interaction_data(const DataConfig& config, const ReadOptions& options) {
  RunData run;
  run.text = options.text;
  Users train, other;
  read_users(config.train, options, run.train_report, train);
  run.train = train.rows;
  run.times = train.users.times();
  if (const std::string columns = describe_columns(head_of_file(config.train), options.log); !columns.empty())
    run.notes.push_back(fmt::format("{} is read as interactions: {}", shown_path(config.train), columns));
  if (config.cache) run.notes.push_back("no cache: logs of interactions are read anew each time");
  if (options.log.hold_out.wanted()) hold_out(config, train, run);
  ReadReport ignored;
  if (!config.known.empty()) read_users(config.known, options, ignored, other);
  const Users& known = config.known.empty() ? train : other;
  // Items that training lacks count, too.
  const auto read_asked = [&](const std::string& path, ReadReport& report) {
    Users asked;
    UnknownLabels unknown;
    ReadOptions of_asked = options;
    of_asked.unknown_labels = &unknown;
    read_users(path, of_asked, report, asked);
    return held_out_samples(asked.rows, asked.users, known.rows, known.users);
  };
  if (!config.test.empty()) run.test = read_asked(config.test, run.test_report);
  if (!config.validation.file.empty())
    run.validation = read_asked(config.validation.file, run.validation_report);
  return run;
}

LogOptions log_options(const DataConfig& config) {
  const bool in_order = config.time == kFileOrder;
  LogOptions log;
  log.form = config.log;
  log.user = config.user;
  log.item = config.item;
  log.weight = config.weight;
  log.time = in_order ? "" : config.time;
  log.in_order = in_order;
  log.hold_out = {config.test_newest.items, config.test_newest.share, {}};
  if (config.test_after.empty()) return log;
  log.hold_out.from = time_in_field(config.test_after);
  if (!log.hold_out.from)
    fail_input("data.test_after = {} is no time; write a date, as 2024-06-01, or a number as in the log",
               config.test_after);
  return log;
}

// Reads the users to predict for. Each row has the items that the input names, and those that the user has in
// the log `known`.
void read_asked_users(const ReadAsked& read, const std::string& known, const ReadOptions& options,
                      AskedUsers& asked) {
  ReadOptions plain = options;
  plain.format = DataFormat::kInteractions;
  plain.normalize = false;
  const std::optional<KnownUsers> before =
      known.empty() ? std::nullopt : std::optional<KnownUsers>(std::in_place, known, plain);
  plain.log.like_fields = before ? before->fields() : 0;
  plain.log.like_separator = before ? before->separator() : std::nullopt;
  plain.log.like_users = before ? &before->users() : nullptr;
  plain.users = &asked.users;
  plain.report = &asked.report;
  const Dataset given = read(plain);
  UserRows rows(options.normalize);
  Items items;
  for (std::size_t i = 0; i < given.size(); ++i) {
    items.clear();
    add_items(given.features(i), items);
    if (before) before->add_items_of(asked.users.name(i), items);
    rows.add(items);
    if (items.empty() && asked.without.size() < AskedUsers::kShown)
      asked.without.emplace_back(asked.users.name(i));
  }
  if (before) asked.of_known = before->warning();
  asked.without_items = rows.without_items();
  asked.rows = rows.take(given.feature_count(), given.label_count());
}

Dataset masked_once(const Dataset& users, const Config& config) {
  return masked_samples({config.data.mask, config.data.normalize, config.train.seed, 0}, users, 1);
}

// Reads users whose items of the log `known` are input items, and whose further items are target items.
void read_held_out(const ReadAsked& read, const std::string& known, const ReadOptions& options,
                   HeldOutUsers& held_out) {
  if (const auto part = missing_part(known))
    fail_input(
        "{}: there is no such file, which has what users know already; name one by --known, or by data.known",
        *part);
  Users asked, before;
  ReadReport report, ignored;
  ReadOptions of_known = options;
  of_known.unknown_labels = nullptr;
  read_users(options, report, asked, read);
  read_users(of_known, ignored, before,
             [&](const ReadOptions& reading) { return read_dataset(known, reading); });
  if (std::string few = few_known_items(known, before.rows, ignored); !few.empty())
    report.add_warning(std::move(few));
  if (options.report != nullptr) *options.report = std::move(report);
  held_out.rows = held_out_samples(asked.rows, asked.users, before.rows, before.users);
  for (std::size_t row = 0; row < asked.users.size(); ++row) held_out.users.add(asked.users.name(row));
}

}  // namespace slide
