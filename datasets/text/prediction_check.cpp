#include "datasets/text/prediction_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/text_encoding.h"
#include "engine/base/foreign_text.h"
#include "engine/base/number_text.h"

namespace slide {

namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 16;
constexpr std::size_t kHeadLines = 100;
constexpr std::size_t kMinLinesOfOne = 5;  // of a score each

// The probability after the last colon of a field.
std::optional<double> score_of(std::string_view field) {
  const std::size_t colon = field.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::optional<double> score = number_of<double>(field.substr(colon + 1));
  return score && *score >= 0 && *score <= 1 ? score : std::nullopt;
}

struct Answer {
  std::size_t scores = 0;
  bool of_user = false;   // the first field names a user
  bool ascending = true;  // the ids
};

const char* separators(bool named) {
  return named ? "\t" : "\t ";
}

// The predictions of a line; nothing if a field is none, or a score above the one before it. `named`: the
// first field may be a user.
std::optional<Answer> answer_of(std::string_view line, bool named) {
  Answer answer;
  double before = 1;
  std::size_t last_id = 0;
  for (bool is_first = true; !line.empty(); is_first = false) {
    const std::size_t end = std::min(line.find_first_of(separators(named)), line.size());
    const std::string_view field = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    const std::optional<double> score = score_of(field);
    if (is_first && !score && named && !line.empty()) {
      answer.of_user = true;
      continue;
    }
    if (!score || *score > before) return std::nullopt;
    before = *score;
    ++answer.scores;
    if (named) continue;
    const std::string_view id = field.substr(0, field.rfind(':'));
    if (!is_digits(id)) return std::nullopt;
    const std::size_t number = number_of<std::size_t>(id).value_or(0);
    answer.ascending = answer.ascending && (answer.scores == 1 || number > last_id);
    last_id = number;
  }
  return answer;
}

bool holds_predictions(std::string_view line) {
  constexpr std::string_view kKey = "\"predictions\":[";
  const std::size_t at = line.find(kKey);
  return (line.starts_with("{\"predictions\":[") || line.starts_with("{\"user\":\"")) &&
         at != std::string_view::npos &&
         (line.substr(at + kKey.size()).starts_with("{\"id\":") ||
          line.substr(at + kKey.size()).starts_with(']'));
}

// The message of predictions_of_names() (`named`) or predictions_of_ids(); "" unless the first kHeadLines
// lines all look like predictions.
std::string found_in(std::string_view head, const std::string& origin, bool named) {
  std::string_view rest = without_byte_order_mark(head.substr(0, kHeadBytes));
  if (head.size() > kHeadBytes) rest = rest.substr(0, rest.rfind('\n') + 1);
  std::size_t lines = 0, number = 0, first = 0, max_scores = 0;
  bool ascending = true, of_users = false;
  std::string shown;
  while (!rest.empty() && lines < kHeadLines) {
    const std::string_view line = take_line(rest);
    ++number;
    if (is_blank_line(line)) continue;
    constexpr Answer kOfJson{.scores = 2};  // certain, as a line of several scores
    const bool is_json = named && holds_predictions(line);
    const std::optional<Answer> answer = is_json ? kOfJson : answer_of(line, named);
    if (!answer) return {};
    if (lines++ == 0) first = number;
    max_scores = std::max(max_scores, answer->scores);
    ascending = ascending && answer->ascending;
    of_users = of_users || answer->of_user;
    if (shown.empty()) shown = shown_part(line.substr(0, line.find_first_of(separators(named))));
  }
  // Names: a line has several scores, or many lines have one each. Ids: data have them ascending, predictions
  // rarely, and few scores may descend by chance.
  const bool like_names = max_scores >= 2 || (max_scores == 1 && lines >= kMinLinesOfOne && !of_users);
  const bool like_ids = !ascending && lines >= 2 && max_scores >= 3;
  if (named ? !like_names : !like_ids) return {};
  return fmt::format(
      "{}:{}: these look like predictions, as slide predict prints them, not like data: '{}'; name the data "
      "that were predicted, or evaluate predictions by slide evaluate",
      origin, first, shown);
}

}  // namespace

std::string predictions_of_names(std::string_view head, const std::string& origin) {
  return found_in(head, origin, true);
}

std::string predictions_of_ids(std::string_view head, const std::string& origin) {
  return found_in(head, origin, false);
}

}  // namespace slide
