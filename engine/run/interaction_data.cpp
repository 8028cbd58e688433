#include "engine/run/interaction_data.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "datasets/data_parts.h"
#include "datasets/detect.h"
#include "datasets/held_out.h"
#include "datasets/interactions.h"
#include "datasets/reader.h"
#include "datasets/row_parser.h"
#include "engine/base/error.h"
#include "engine/features/item_draw.h"

namespace slide {

namespace {

// An interaction log and its users, in row order.
struct Users {
  Dataset rows;
  LogUsers users;
};

void read_users(const std::string& path, ReadOptions options, ReadReport& report, Users& log) {
  options.format = DataFormat::kInteractions;
  options.log.rows_by_name = true;
  options.users = &log.users;
  options.report = &report;
  log.rows = read_dataset(path, options);
}

}  // namespace

bool is_interactions(const DataConfig& config) {
  const bool open = config.kind == DataKind::kAuto && !config.train.empty();
  const bool told = config.kind == DataKind::kInteractions || config.format == DataFormat::kInteractions ||
                    (config.kind == DataKind::kAuto && (!config.user.empty() || !config.item.empty()));
  const bool found = open && config.format == DataFormat::kAuto && config.text.empty() &&
                     detect_file(config.train) == DataFormat::kInteractions;
  if (told || found) return true;
  if (config.known.empty() && !config.test_newest && config.log == LogForm::kAuto) return false;
  fail_input(
      "{} is for interactions, but {} is not clearly a log of these; if it is, set data.kind=interactions",
      !config.known.empty() ? "data.known"
      : config.test_newest  ? "data.test_newest"
                            : "data.log",
      config.train.empty() ? "data.train" : shown_path(config.train));
}

RunData read_interaction_data(const DataConfig& config, const ReadOptions& options) {
  RunData run;
  run.text = options.text;
  Users train, other;
  read_users(config.train, options, run.train_report, train);
  run.train = train.rows;
  if (config.cache) run.notes.push_back("no cache: logs of interactions are read anew each time");
  if (config.test_newest) {
    if (!train.users.knows_newest())
      fail_input(
          "data.test_newest = true, but {} has no times; name their column by data.time, or say "
          "data.time=order if a user's later lines and items are the newer ones",
          shown_path(config.train));
    NewestApart apart = newest_apart(train.rows, train.users, config.normalize);
    run.train = std::move(apart.rest);
    run.test = std::move(apart.newest);
  }
  ReadReport ignored;
  if (!config.known.empty()) read_users(config.known, options, ignored, other);
  const Users& known = config.known.empty() ? train : other;
  const auto read_asked = [&](const std::string& path, ReadReport& report) {
    Users asked;
    read_users(path, options, report, asked);
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
  return log;
}

namespace {

// Items by id, each with its weight.
using Items = std::vector<std::pair<std::uint32_t, float>>;

void add_items(const SparseRow& row, Items& items) {
  for (std::size_t i = 0; i < row.ids.size(); ++i) items.emplace_back(row.ids[i], row.values[i]);
}

// Each item once, by its largest weight.
void join_items(Items& items) {
  std::ranges::sort(items, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  items.erase(std::unique(items.begin(), items.end(), same),
              items.end());  // Clang 14 knows no std::ranges::unique
}

}  // namespace

void read_asked_users(const ReadAsked& read, const std::string& known, const ReadOptions& options,
                      AskedUsers& asked) {
  ReadOptions plain = options;
  plain.format = DataFormat::kInteractions;
  plain.normalize = false;
  Users before;
  ReadReport ignored;
  if (!known.empty()) read_users(known, plain, ignored, before);
  plain.log.like_fields = known.empty() ? 0 : before.users.log().fields;
  plain.users = &asked.users;
  plain.report = &asked.report;
  const Dataset given = read(plain);
  DatasetArrays rows;
  Items items;
  for (std::size_t i = 0; i < given.size(); ++i) {
    items.clear();
    add_items(given.features(i), items);
    if (const auto at = before.users.row_of(asked.users.name(i))) add_items(before.rows.features(*at), items);
    join_items(items);
    const std::size_t first = rows.feature_ids.size();
    for (const auto& [id, weight] : items) {
      rows.feature_ids.push_back(id);
      rows.feature_values.push_back(weight);
    }
    if (options.normalize) scale_to_unit_length(rows.feature_values.data() + first, items.size());
    rows.feature_offsets.push_back(rows.feature_ids.size());
    rows.label_offsets.push_back(0);
  }
  asked.rows = Dataset(std::move(rows), given.feature_count(), given.label_count());
}

Dataset half_hidden(const Dataset& users, const Config& config) {
  return drawn_samples({config.data.mask, config.data.normalize, config.train.seed, 0}, users, 1);
}

Dataset read_held_out(const std::string& path, const std::string& known, const ReadOptions& options) {
  for (const std::string& part : parts_of(known)) {
    if (std::filesystem::exists(part)) continue;
    fail_input(
        "{}: there is no such file, which has what users know already; name one by --known, or by data.known",
        part);
  }
  Users asked, before;
  ReadReport report, ignored;
  read_users(path, options, report, asked);
  read_users(known, options, ignored, before);
  if (options.report != nullptr) *options.report = std::move(report);
  return held_out_samples(asked.rows, asked.users, before.rows, before.users);
}

}  // namespace slide
