#include "engine/run/log_truth.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "datasets/data_parts.h"
#include "datasets/interactions.h"
#include "datasets/reader.h"
#include "engine/base/error.h"
#include "engine/run/interaction_data.h"

namespace slide {

namespace {

ReadOptions reading_of(const TruthOptions& options) {
  ReadOptions reading;
  reading.format = DataFormat::kInteractions;
  reading.threads = options.threads;
  reading.log = options.log;
  reading.log.rows_by_name = true;
  return reading;
}

// All items of a log, behind those of `before`, if that is given.
std::shared_ptr<const TextModel> items_of(const std::string& path, const TruthOptions& options,
                                          const TextModel* before = nullptr) {
  TextOptions all;
  all.min_count = 1;
  return learn_items_of(parts_of(path), reading_of(options), all, false, before);
}

void add_warnings(const ReadReport& report, const TruthOptions& options) {
  if (options.report == nullptr) return;
  for (const std::string& warning : report.warnings) options.report->add_warning(warning);
}

// The labels of rows by the index, which gets the names of `items`.
Dataset by_index(const Dataset& rows, const TextModel& items, LabelIndex& index) {
  std::vector<std::uint32_t> ids(items.label_count());
  for (std::uint32_t item = 0; item < ids.size(); ++item)
    ids[item] = index.find_carried(items.label_name(item));
  DatasetArrays arrays;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::uint32_t item : rows.labels(i)) arrays.label_ids.push_back(ids[item]);
    std::sort(arrays.label_ids.begin() + static_cast<std::ptrdiff_t>(arrays.label_offsets.back()),
              arrays.label_ids.end());
    arrays.label_offsets.push_back(arrays.label_ids.size());
  }
  arrays.feature_offsets = std::vector<std::uint64_t>(arrays.label_offsets.size());
  return {std::move(arrays), 0, static_cast<std::uint32_t>(index.names())};
}

void name_by_log(const std::string& path, LabelIndex& index) {
  if (!index.named() && index.knows_numbers())
    fail_input("{}: this names its items, but other files number their labels; give the names by --labels",
               path);
  index.name_by_data();
}

// All users of a log.
Dataset read_users(const std::string& path, ReadOptions reading, const TruthOptions& options,
                   LogUsers& users) {
  ReadReport report;
  reading.report = &report;
  reading.users = &users;
  Dataset rows = read_dataset(path, reading);
  add_warnings(report, options);
  return rows;
}

}  // namespace

Dataset read_log_items(const std::string& path, const TruthOptions& options, LabelIndex& index) {
  name_by_log(path, index);
  ReadOptions reading = reading_of(options);
  reading.text = items_of(path, options);
  LogUsers users;
  const Dataset rows = read_users(path, reading, options, users);
  return by_index(rows, *reading.text, index);
}

Truth read_log_truth(const std::string& path, const TruthOptions& options, LabelIndex& index) {
  name_by_log(path, index);
  ReadOptions reading = reading_of(options);
  const auto known = options.known.empty() ? nullptr : items_of(options.known, options);
  reading.text = items_of(path, options, known.get());
  auto users = std::make_shared<NameList>();
  Dataset rows;
  if (known == nullptr) {
    LogUsers all;
    rows = read_users(path, reading, options, all);
    for (std::size_t row = 0; row < all.size(); ++row) users->add(all.name(row));
  } else {
    ReadReport report;
    reading.report = &report;
    HeldOutUsers held_out;
    read_held_out([&](const ReadOptions& asked) { return read_dataset(path, asked); }, options.known, reading,
                  held_out);
    add_warnings(report, options);
    rows = std::move(held_out.rows);
    *users = std::move(held_out.users);
  }
  const std::size_t samples = rows.size();
  return {by_index(rows, *reading.text, index), {samples, {}, std::move(users)}};
}

}  // namespace slide
