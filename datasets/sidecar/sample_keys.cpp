#include "datasets/sidecar/sample_keys.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "datasets/formats/log_columns.h"
#include "datasets/formats/log_form.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/sample_lines.h"
#include "datasets/text/labelled_chunks.h"
#include "datasets/text/table.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/base/number_text.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

// Numbers values in order of first occurrence.
class KeyNumbers {
 public:
  void add(std::string_view value) {
    const auto [at, is_new] =
        numbers_.try_emplace(std::string(value), static_cast<std::uint32_t>(numbers_.size()));
    if (is_new) values_.distinct.emplace_back(value);
    values_.ids.push_back(at->second);
  }
  KeyValues take() { return std::move(values_); }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  KeyValues values_;
};

std::optional<double> finite_number_of(std::string_view text) {
  const auto number = number_of<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

// Keys of the samples of a chunk, consecutively.
struct ChunkKeys {
  std::vector<std::string> group, time;
};

// Adds the values of one table.
void add_table_keys(const std::string& path, const ReadOptions& options, KeyNumbers& group,
                    KeyNumbers& time) {
  const TableColumns& columns = options.columns;
  const FileBytes file(path);
  const std::string_view text = without_byte_order_mark(file.text());
  const std::optional<DataFormat> format =
      options.format == DataFormat::kAuto ? detect_table(text, columns) : options.format;
  if (!format || !is_table(*format)) {
    const bool is_group = !columns.group.empty();
    fail_input("{}: {} = {} names a column, but this is no table; leave data.text out, and name a file", path,
               (is_group ? kGroupKey : kTimeKey).key, is_group ? columns.group : columns.time);
  }
  const TextSource source{text, path};
  const Table table(source.text, path, *format, columns, Labels::kRequired);
  const TextSource rest = without_header(source, table);
  LineRules rules;
  rules.skip_bad = options.skip_bad;
  rules.table = &table;
  rules.lines_before = table.header_lines();
  LabelledChunks chunks(rest, rules, kDefaultChunkBytes);
  std::vector<ChunkKeys> found(chunks.size());
  std::vector<LabelledLine> lines(chunks.size());
  parallel_for(chunks.size(), resolve_threads(options.threads), [&](std::size_t chunk, int) {
    chunks.for_each_line(chunk, lines[chunk], [&](const LabelledLine& line) {
      if (!columns.group.empty()) found[chunk].group.emplace_back(line.group);
      if (!columns.time.empty()) found[chunk].time.emplace_back(line.time);
    });
    lines[chunk] = {};
  });
  chunks.check_faults();
  for (const ChunkKeys& keys : found) {
    for (const std::string& value : keys.group) group.add(value);
    for (const std::string& value : keys.time) time.add(value);
  }
}

// The first sample, from 1, with a distinct time.
std::size_t first_sample(const KeyValues& times, std::size_t distinct) {
  const auto at = std::ranges::find(times.ids, static_cast<std::uint32_t>(distinct));
  return static_cast<std::size_t>(at - times.ids.begin()) + 1;
}

// The distinct times as numbers; none where they are texts.
std::vector<double> numbers_in(const KeyValues& times, const std::string& data) {
  std::vector<double> numbers;
  LogTimes units;
  for (std::size_t i = 0; i < times.distinct.size(); ++i) {
    const std::optional<double> number = finite_number_of(times.distinct[i]);
    if (number) {
      numbers.push_back(*number);
      units.add(*number);
    }
    if (!numbers.empty() && numbers.size() < i + 1) {
      fail_input(
          "data.time: sample {} of {} has the time '{}', but sample 1 '{}'; give numbers for all, or texts "
          "that sort by time",
          first_sample(times, i), data, shown_part(times.distinct[i]), shown_part(times.distinct.front()));
    }
    if (units.mixes_units()) {
      fail_input(
          "data.time: some times of {} are seconds and others thousandths or less, as '{}' of sample {}, so "
          "that the latest cannot be told; write all in one unit",
          data, shown_part(times.distinct[i]), first_sample(times, i));
    }
  }
  return numbers;
}

// Whether a text begins with the English name of a month or a day and has a number: Fri May 31 2024.
bool begins_with_date_name(std::string_view text) {
  constexpr std::string_view kNames = "JanFebMarAprMayJunJulAugSepOctNovDecMonTueWedThuFriSatSun";
  constexpr std::size_t kLetters = 3;  // of each name
  const std::size_t word = text.find_first_of(" ,.-");
  if (word == std::string_view::npos || word < kLetters) return false;
  const std::size_t name = kNames.find(text.substr(0, kLetters));
  return name != std::string_view::npos && name % kLetters == 0 &&
         text.find_first_of(kDigits) != std::string_view::npos;
}

// Whether a text begins with two numbers of one or two digits, each before the same mark: 31.5.2024,
// 05/31/24.
bool begins_with_day_and_month(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kDigits);
  if (first == std::string_view::npos || first == 0 || first > 2) return false;
  const char mark = text[first];
  if (mark != '/' && mark != '.' && mark != '-') return false;
  const std::string_view rest = text.substr(first + 1);
  const std::size_t second = rest.find_first_not_of(kDigits);
  return second != std::string_view::npos && second > 0 && second <= 2 && rest[second] == mark;
}

// Whether a text is a date that does not begin with its year.
bool is_date_out_of_order(std::string_view text) {
  return begins_with_date_name(text) || begins_with_day_and_month(text);
}

// The distinct times in seconds, where all are dates with the year in front; none for other texts.
std::vector<double> dates_in(const KeyValues& times, const std::string& data) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < times.distinct.size(); ++i) {
    const std::string& text = times.distinct[i];
    if (const std::optional<double> date = date_in_field(text)) seconds.push_back(*date);
    if (is_date_out_of_order(text)) {
      fail_input(
          "data.time: sample {} of {} has the time '{}'; such texts do not sort by time: write dates as "
          "2024-05-31",
          first_sample(times, i), data, shown_part(text));
    }
  }
  if (seconds.size() < times.distinct.size()) seconds.clear();
  return seconds;
}

}  // namespace

KeyValues key_values(const std::vector<std::string_view>& values) {
  KeyNumbers numbers;
  for (const std::string_view value : values) numbers.add(value);
  return numbers.take();
}

KeyValues read_key_file(const std::string& path, const KeyName& name, std::size_t count,
                        const std::string& data) {
  const FileBytes file(path);
  KeyNumbers numbers;
  for_each_sample_line(without_byte_order_mark(file.text()), path, count, name.thing, "samples", data,
                       [&](std::string_view line, std::size_t) { numbers.add(line); });
  return numbers.take();
}

KeyColumns read_key_columns(const std::string& path, const ReadOptions& options) {
  KeyNumbers group, time;
  for (const std::string& part : parts_of(path)) add_table_keys(part, options, group, time);
  return {group.take(), time.take()};
}

// Ranks the distinct times, equal ones with one rank, and gives each sample the rank of its time.
std::vector<std::uint32_t> ranks_of_times(const KeyValues& times, const std::string& data) {
  const std::size_t distinct = times.distinct.size();
  if (distinct == 1) {
    fail_input(
        "data.time: all samples of {} have the time '{}', so none is the latest; give other times, or order "
        "for their order in the file",
        data, shown_part(times.distinct.front()));
  }
  std::vector<double> numbers = numbers_in(times, data);
  if (numbers.empty()) numbers = dates_in(times, data);
  std::vector<std::uint32_t> order(distinct), ranks(distinct);
  std::iota(order.begin(), order.end(), 0U);
  const auto is_less = [&](std::uint32_t a, std::uint32_t b) {
    return numbers.empty() ? times.distinct[a] < times.distinct[b] : numbers[a] < numbers[b];
  };
  std::ranges::stable_sort(order, is_less);
  for (std::size_t i = 1; i < distinct; ++i)
    ranks[order[i]] = ranks[order[i - 1]] + (is_less(order[i - 1], order[i]) ? 1 : 0);
  std::vector<std::uint32_t> of_samples;
  of_samples.reserve(times.ids.size());
  for (const std::uint32_t id : times.ids) of_samples.push_back(ranks[id]);
  return of_samples;
}

std::vector<bool> times_from(const KeyValues& times, const std::string& from, const std::string& data) {
  // The distinct times as numbers, or as dates in seconds; empty where times are compared as text.
  std::vector<double> values = numbers_in(times, data);
  const bool are_numbers = !values.empty();
  if (!are_numbers) values = dates_in(times, data);
  const bool are_texts = values.empty();
  std::optional<double> limit = are_numbers ? time_in_field(from) : date_in_field(from);
  if (!are_texts && !limit)
    fail_input("data.test_after = {} is no {}, as the times of {} are; write one as '{}'", shown_part(from),
               are_numbers ? "number or date" : "date", data, shown_part(times.distinct.front()));
  if (are_numbers) limit = in_unit_of(*limit, values.front());
  std::vector<bool> by_sample;
  by_sample.reserve(times.ids.size());
  for (const std::uint32_t id : times.ids)
    by_sample.push_back(are_texts ? times.distinct[id] >= from : values[id] >= *limit);
  return by_sample;
}

Dataset with_file_order(const Dataset& data) {
  SampleKeys keys = data.keys() != nullptr ? *data.keys() : SampleKeys();
  keys.times.resize(data.samples());
  std::iota(keys.times.begin(), keys.times.end(), 0U);
  keys.in_order = true;
  return data.with_keys(std::make_shared<const SampleKeys>(std::move(keys)));
}

}  // namespace slide
