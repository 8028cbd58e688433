#include "engine/run/score_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "datasets/formats/npz_matrix.h"
#include "datasets/rows/line_chunks.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/run/score_text.h"

namespace slide {

namespace {

[[noreturn]] void fail_rows(const std::string& origin, std::size_t rows, const ScoredRows& wanted) {
  const std::string blank =
      wanted.blank.empty() ? "" : fmt::format(" and {} blank lines", wanted.blank.size());
  fail_input("{}: {} rows of scores for {} samples{}; they must be of the same samples", origin, rows,
             wanted.samples, blank);
}

// Removes the rows of blank lines, if there are rows for all lines. Throws InputError for another number of
// rows than samples.
void leave_out_blank(const std::string& origin, const ScoredRows& rows, DatasetArrays& arrays,
                     std::vector<std::uint32_t>* order = nullptr) {
  const std::size_t count = arrays.feature_offsets.size() - 1;
  if (count == rows.samples) return;
  if (count != rows.samples + rows.blank.size()) fail_rows(origin, count, rows);
  DatasetArrays kept;
  std::vector<std::uint32_t> kept_order;
  auto blank = rows.blank.begin();
  for (std::size_t row = 0; row < count; ++row) {
    if (blank != rows.blank.end() && *blank == row) {
      ++blank;
      continue;
    }
    for (std::uint64_t e = arrays.feature_offsets[row]; e < arrays.feature_offsets[row + 1]; ++e) {
      kept.feature_ids.push_back(arrays.feature_ids[e]);
      kept.feature_values.push_back(arrays.feature_values[e]);
      if (order != nullptr) kept_order.push_back((*order)[e]);
    }
    kept.feature_offsets.push_back(kept.feature_ids.size());
  }
  arrays = std::move(kept);
  if (order != nullptr) *order = std::move(kept_order);
}

// Rows by the users' names.
std::unordered_map<std::string_view, std::size_t> rows_by_name(const NameList& users) {
  std::unordered_map<std::string_view, std::size_t> rows;
  for (std::size_t row = 0; row < users.size(); ++row) rows.emplace(users[row], row);
  return rows;
}

// Users that scores have and the samples do not.
struct OtherUsers {
  std::size_t count = 0;
  std::string first = {};

  void add(const std::string& user) {
    if (count++ == 0) first = shown_part(user);
  }
  void warn(const std::string& origin, ReadReport* report) const {
    if (count == 0 || report == nullptr) return;
    report->add_warning(
        fmt::format("{}: users that are not in the data were left out: {}, the first of them '{}'", origin,
                    count, first));
  }
};

// Returns for each wanted user its row of the matrix, whose rows stand in any order. Throws InputError for a
// user without a row or with two rows.
std::vector<std::size_t> rows_of_users(const NpzScores& scores, const ScoredRows& wanted,
                                       const std::string& path) {
  const NameList& users = *wanted.users;
  if (scores.users.empty() && scores.matrix.rows > 0) {
    fail_input(
        "{}: the matrix does not say whose rows these are; add their names as the member 'users', as slide "
        "predict --out does, or give lines",
        path);
  }
  const auto rows = rows_by_name(users);
  constexpr std::size_t kNone = SIZE_MAX;
  std::vector<std::size_t> found(users.size(), kNone);
  OtherUsers others;
  for (std::size_t r = 0; r < scores.users.size(); ++r) {
    const auto row = rows.find(scores.users[r]);
    if (row == rows.end()) {
      others.add(scores.users[r]);
      continue;
    }
    if (std::exchange(found[row->second], r) != kNone)
      fail_input("{}: row {}: the user '{}' is there twice", path, r, shown_part(scores.users[r]));
  }
  const auto missing = std::ranges::find(found, kNone);
  if (missing != found.end()) {
    const auto row = static_cast<std::size_t>(missing - found.begin());
    fail_input("{}: there is no row for the user '{}' of the data", path, shown_part(users[row]));
  }
  others.warn(path, wanted.report);
  return found;
}

// Replaces columns by the labels of their names. Columns without scores may have any.
void take_labels_by_name(NpzScores& scores, LabelIndex& index, const std::string& path) {
  std::vector<std::optional<std::uint32_t>> labels(scores.labels.size());
  std::vector<bool> taken;
  for (std::uint64_t& column : scores.matrix.ids) {
    std::optional<std::uint32_t>& label = labels[column];
    if (!label) {
      const std::string& name = scores.labels[column];
      label = index.find(name);
      if (!label) fail_input("{}: the label '{}' is not among the names of labels", path, shown_part(name));
      taken.resize(std::max<std::size_t>(taken.size(), *label + std::size_t{1}));
      if (taken[*label])
        fail_input("{}: two columns have the name '{}'; give each label one", path, shown_part(name));
      taken[*label] = true;
    }
    column = *label;
  }
}

// Appends a row of the matrix by ascending label.
void append_row(const NpzScores& scores, std::size_t row, DatasetArrays& arrays,
                std::vector<std::uint32_t>& order) {
  const NpzMatrix& matrix = scores.matrix;
  std::vector<std::size_t> entries(matrix.ends[row + 1] - matrix.ends[row]);
  std::iota(entries.begin(), entries.end(), matrix.ends[row]);
  std::ranges::sort(entries, {}, [&](std::size_t e) { return matrix.ids[e]; });
  for (const std::size_t e : entries) {
    arrays.feature_ids.push_back(static_cast<std::uint32_t>(matrix.ids[e]));
    arrays.feature_values.push_back(matrix.values[e]);
    order.push_back(
        static_cast<std::uint32_t>(scores.ranks.empty() ? e - matrix.ends[row] : scores.ranks[e]));
  }
  arrays.feature_offsets.push_back(arrays.feature_ids.size());
}

void check_columns(const NpzScores& scores, const LabelIndex& index, const std::string& path) {
  if (index.grows()) {
    fail_input("{}: columns are numbers, but the data name their labels; give the names by --labels", path);
  }
  const NpzMatrix& matrix = scores.matrix;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::size_t entry = matrix.ends[row]; entry < matrix.ends[row + 1]; ++entry)
      check_score_label(matrix.ids[entry], index, fmt::format("{}: row {}", path, row));
  }
}

}  // namespace

// One line per sample, in the order of the samples, possibly with lines for blank ones.
DatasetArrays parse_scores(std::string_view text, const std::string& origin, const ScoredRows& rows,
                           LabelIndex& index, std::vector<std::uint32_t>* order) {
  DatasetArrays arrays;
  std::vector<ScoreEntry> row;
  std::size_t number = 0;
  while (!text.empty()) {
    const ScoreLine line{origin, ++number, take_line(text)};
    if (number > rows.samples + rows.blank.size()) {
      const auto more = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
      fail_rows(origin, number + more + (text.empty() || text.back() == '\n' ? 0 : 1), rows);
    }
    parse_score_line(line, index, row);
    for (const ScoreEntry& entry : row) {
      arrays.feature_ids.push_back(entry.label);
      arrays.feature_values.push_back(entry.score);
      if (order != nullptr) order->push_back(entry.place);
    }
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
  }
  leave_out_blank(origin, rows, arrays, order);
  return arrays;
}

// One line per user, in any order; rows come in the order of wanted.users. Other users are a warning.
DatasetArrays parse_user_scores(std::string_view text, const std::string& origin, const ScoredRows& wanted,
                                LabelIndex& index, std::vector<std::uint32_t>* order) {
  const NameList& users = *wanted.users;
  const auto rows = rows_by_name(users);
  std::vector<std::optional<std::vector<ScoreEntry>>> found(users.size());
  std::vector<ScoreEntry> scores;
  OtherUsers others;
  std::string user;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (is_blank_line(line)) continue;
    parse_score_line({origin, number, line}, index, scores, &user);
    const auto row = rows.find(user);
    if (row == rows.end()) {
      others.add(user);
      continue;
    }
    if (found[row->second])
      fail_input("{}:{}:1: the user '{}' is there twice", origin, number, shown_part(user));
    found[row->second] = scores;
  }
  DatasetArrays arrays;
  for (std::size_t row = 0; row < users.size(); ++row) {
    if (!found[row])
      fail_input(
          "{}: there is no line for the user '{}' of the data; a line begins with its user and a TAB, or is "
          "JSON with a user",
          origin, shown_part(users[row]));
    for (const ScoreEntry& entry : *found[row]) {
      arrays.feature_ids.push_back(entry.label);
      arrays.feature_values.push_back(entry.score);
      if (order != nullptr) order->push_back(entry.place);
    }
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
  }
  others.warn(origin, wanted.report);
  return arrays;
}

// Rows and columns of an .npz matrix, by the names beside it where both sides have names, else by number.
DatasetArrays parse_score_matrix(const NamedBytes& bytes, const ScoredRows& rows, LabelIndex& index,
                                 std::vector<std::uint32_t>* order) {
  NpzScores scores = read_npz_scores(bytes);
  const std::size_t count = scores.matrix.rows;
  if (rows.users == nullptr && count != rows.samples && count != rows.samples + rows.blank.size())
    fail_rows(bytes.path, count, rows);
  const bool by_name = index.named() && !scores.labels.empty();
  if (by_name) {
    take_labels_by_name(scores, index, bytes.path);
  } else {
    check_columns(scores, index, bytes.path);
  }
  std::vector<std::size_t> places(count);
  std::iota(places.begin(), places.end(), 0U);
  if (rows.users != nullptr) places = rows_of_users(scores, rows, bytes.path);
  DatasetArrays arrays;
  std::vector<std::uint32_t> ranks;
  for (const std::size_t row : places) append_row(scores, row, arrays, ranks);
  if (!by_name && scores.ranks.empty()) ranks.clear();  // they are by label
  if (rows.users == nullptr) leave_out_blank(bytes.path, rows, arrays, ranks.empty() ? nullptr : &ranks);
  if (order != nullptr) *order = std::move(ranks);
  return arrays;
}

}  // namespace slide
