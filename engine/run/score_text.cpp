#include "engine/run/score_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "datasets/rows/line_chunks.h"
#include "datasets/rows/row_parser.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/base/number_text.h"

namespace slide {

std::string ScoreLine::place(std::string_view part) const {
  const bool within = part.data() >= text.data() && part.data() < text.data() + text.size();
  const auto at = within ? before + static_cast<std::size_t>(part.data() - text.data()) : 0;
  return fmt::format("{}:{}:{}", origin, number, at + 1);
}

void check_score_label(std::uint64_t label, const LabelIndex& index, const std::string& where) {
  const std::uint64_t limit = index.limit() == 0 ? kIdLimit : index.limit();
  if (label >= limit)
    fail_input("{}: label {} is out of range; there are {} labels, counted from 0", where, label, limit);
}

namespace {

float score_of(std::string_view text, const ScoreLine& line) {
  const std::optional<double> value = number_of<double>(text);
  if (value && std::abs(*value) <= std::numeric_limits<float>::max()) return static_cast<float>(*value);
  fail_input("{}: '{}' is no finite score", line.place(text), shown_part(text));
}

std::uint32_t label_of(std::string_view text, const ScoreLine& line, LabelIndex& index) {
  if (index.named()) {
    if (const auto found = index.find(text)) return *found;
    fail_input("{}: the label '{}' is not among the names of labels", line.place(text), shown_part(text));
  }
  const std::optional<std::uint64_t> label = number_of<std::uint64_t>(text);
  if (!label)
    fail_input("{}: '{}' is no number of a label; --labels gives names", line.place(text), shown_part(text));
  check_score_label(*label, index, line.place(text));
  return static_cast<std::uint32_t>(*label);
}

// Sorts the scores of a sample by label. Throws InputError where a label occurs twice.
void finish_row(const ScoreLine& line, const LabelIndex& index, std::vector<ScoreEntry>& row) {
  std::ranges::sort(row, {}, &ScoreEntry::label);
  const auto twice = std::ranges::adjacent_find(row, {}, &ScoreEntry::label);
  if (twice == row.end()) return;
  const std::string name =
      index.named() ? shown_part(index.name(twice->label)) : std::to_string(twice->label);
  fail_input("{}:{}:1: the label '{}' is there twice", line.origin, line.number, name);
}

// Beginning of a line of `slide predict --json`: for a sample, and for a user.
constexpr std::string_view kJsonLine = "{\"predictions\":", kJsonOfUser = "{\"user\":";

[[noreturn]] void fail_json(const ScoreLine& line, std::string_view what) {
  fail_input("{}:{}:1: {}; want {}[{{\"id\":..,\"score\":..}},..]}}", line.origin, line.number, what,
             kJsonLine);
}

// An element of "predictions": {"label": name, "score": number}, or "id" where labels have no names.
ScoreEntry parse_json_prediction(const nlohmann::json& one, const ScoreLine& line, LabelIndex& index,
                                 std::size_t place) {
  const char* const key = index.named() ? "label" : "id";
  const bool complete = one.is_object() && one.contains(key) && one.contains("score") &&
                        one["score"].is_number() &&
                        (index.named() ? one[key].is_string() : one[key].is_number_unsigned());
  if (!complete)
    fail_json(line, index.named() ? "a prediction without the name of a label, or without a score"
                                  : "a prediction without a label's id, or without a score");
  const std::string label = index.named() ? one[key].get<std::string>() : one[key].dump();
  return {label_of(label, line, index), score_of(one["score"].dump(), line),
          static_cast<std::uint32_t>(place)};
}

// {"user": name, "predictions": [...]}; `user`: receives the name, nullptr where lines have none.
void parse_json_line(const ScoreLine& line, LabelIndex& index, std::vector<ScoreEntry>& row,
                     std::string* user) {
  if (const auto fault = foreign_json_fault(line.text)) fail_json(line, fault->what);
  const nlohmann::json object = nlohmann::json::parse(line.text, nullptr, false);
  const auto predictions = object.is_object() ? object.find("predictions") : object.end();
  if (predictions == object.end() || !predictions->is_array()) fail_json(line, "this is no whole object");
  if (user != nullptr) {
    const auto named = object.find("user");
    if (named == object.end() || !named->is_string())
      fail_json(line, "there is no name of a user (\"user\")");
    *user = named->get<std::string>();
  }
  for (const nlohmann::json& one : *predictions)
    row.push_back(parse_json_prediction(one, line, index, row.size()));
  finish_row(line, index, row);
}

// Parses `label:score` entries; a name may contain colons, so that the last one divides.
void parse_plain_line(const ScoreLine& line, LabelIndex& index, std::vector<ScoreEntry>& row) {
  const char* separators = index.named() ? "\t" : " \t";
  for (std::size_t at = 0; at < line.text.size();) {
    const std::size_t end = std::min(line.text.find_first_of(separators, at), line.text.size());
    const std::string_view part = line.text.substr(at, end - at);
    at = end + 1;
    if (is_blank_line(part)) continue;
    const std::size_t colon = part.rfind(':');
    if (colon == std::string_view::npos)
      fail_input("{}: '{}' is no label:score", line.place(part), shown_part(part));
    row.push_back({label_of(part.substr(0, colon), line, index), score_of(part.substr(colon + 1), line),
                   static_cast<std::uint32_t>(row.size())});
  }
  finish_row(line, index, row);
}

// Throws InputError for a line of the table that `slide recommend` prints: item TAB score, without a colon.
// `line` has lost its user.
void refuse_table(const ScoreLine& line) {
  const std::size_t item = line.text.find('\t');
  if (item == std::string_view::npos) return;
  std::string_view score = line.text.substr(item + 1);
  score = score.substr(0, score.find('\t'));
  if (is_blank_line(score) || score.find(':') != std::string_view::npos) return;
  fail_input(
      "{}:{}:1: this is a table of slide recommend, a line an item; write a file to evaluate by --out "
      "FILE.npz or FILE.jsonl",
      line.origin, line.number);
}

}  // namespace

// Parses a line of JSON or of label:score entries. `user`: the line begins with a user, which it receives.
void parse_score_line(ScoreLine line, LabelIndex& index, std::vector<ScoreEntry>& row, std::string* user) {
  row.clear();
  if (line.text.starts_with(kJsonLine) || line.text.starts_with(kJsonOfUser))
    return parse_json_line(line, index, row, user);
  if (user != nullptr) {
    const std::size_t end = std::min(line.text.find('\t'), line.text.size());
    *user = line.text.substr(0, end);
    line.before = std::min(end + 1, line.text.size());
    line.text.remove_prefix(line.before);
    refuse_table(line);
  }
  parse_plain_line(line, index, row);
}

}  // namespace slide
