#include "engine/run/log_truth.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "datasets/formats/interactions.h"
#include "datasets/reader.h"
#include "datasets/rows/data_parts.h"
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

// All items of a log, after the items of `before`, unless that is nullptr.
std::shared_ptr<const TextModel> items_of(const std::string& path, const TruthOptions& options,
                                          const TextModel* before = nullptr) {
  TextOptions all;
  all.min_count = 1;
  return learn_items_of(parts_of(path), reading_of(options), all, false, before);
}

bool is_same_log(const std::string& path, const std::string& known) {
  std::error_code ignored;
  return !known.empty() &&
         (expanded(path) == expanded(known) || std::filesystem::equivalent(path, known, ignored));
}

void name_by_log(const std::string& path, LabelIndex& index) {
  if (!index.named() && index.knows_numbers())
    fail_input("{}: this names its items, but other files number their labels; give the names by --labels",
               path);
  index.name_by_data();
}

}  // namespace

Dataset read_log_items(const std::string& path, const TruthOptions& options, LabelIndex& index) {
  name_by_log(path, index);
  ReadOptions reading = reading_of(options);
  reading.text = items_of(path, options);
  LogUsers users;
  reading.users = &users;
  const Dataset rows = read_warned(path, reading, options);
  return labels_by_index(rows, *reading.text, index);
}

// Without a known log, all items of a user are labels; with one, those that it lacks.
Truth read_log_truth(const std::string& path, const TruthOptions& options, LabelIndex& index) {
  if (is_same_log(path, options.known))
    fail_input(
        "{}: the log is also what its users have (--known, --train or the model name it), which "
        "recommendations "
        "leave out, so that nothing is left to measure; name another log by --known, or take 'slide test "
        "MODEL {}', "
        "which measures by the items that training held out of it",
        path, path);
  name_by_log(path, index);
  ReadOptions reading = reading_of(options);
  const auto known = options.known.empty() ? nullptr : items_of(options.known, options);
  reading.text = items_of(path, options, known.get());
  auto users = std::make_shared<NameList>();
  Dataset rows;
  if (known == nullptr) {
    LogUsers all;
    reading.users = &all;
    rows = read_warned(path, reading, options);
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
  return {labels_by_index(rows, *reading.text, index), {samples, {}, std::move(users)}};
}

}  // namespace slide
