#include "datasets/text/column_names.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <string>

namespace slide {

namespace {

// kLabelParts and kTextParts also count as parts of longer names. The other names count only whole:
// interaction logs have longer names that contain them.
constexpr std::string_view kLabelParts[] = {"label",   "tag",   "category", "categories", "class",
                                            "classes", "genre", "topic",    "keyword",    "target"};
constexpr std::string_view kTextParts[] = {"text",    "title",    "body",     "description", "content",
                                           "comment", "summary",  "query",    "question",    "answer",
                                           "message", "sentence", "abstract", "headline"};
constexpr std::string_view kStems[] = {"categor", "descript"};  // of more words and of other languages
constexpr std::string_view kLabelNames[] = {"subject",  "code",   "y",        "label_name",
                                            "label_id", "intent", "sentiment"};
constexpr std::string_view kTextNames[] = {"document", "doc", "review", "utterance", "tweet"};
constexpr std::string_view kIdNames[] = {"id", "uid", "docid", "index", "pmid"};

bool has(std::span<const std::string_view> names, std::string_view name) {
  const std::string_view singular = name.substr(0, name.size() - (name.ends_with('s') ? 1 : 0));
  return std::ranges::any_of(names, [&](std::string_view one) { return one == name || one == singular; });
}

}  // namespace

std::optional<ColumnUse> usual_use(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (has(kLabelParts, lower) || has(kLabelNames, lower)) return ColumnUse::kLabels;
  if (has(kTextParts, lower) || has(kTextNames, lower)) return ColumnUse::kText;
  if (has(kIdNames, lower) || lower.ends_with("_id")) return ColumnUse::kId;
  return std::nullopt;
}

bool has_part_of_table(std::string_view lower) {
  const auto is_in = [&](std::string_view part) { return lower.find(part) != std::string_view::npos; };
  return std::ranges::any_of(kLabelParts, is_in) || std::ranges::any_of(kTextParts, is_in) ||
         std::ranges::any_of(kStems, is_in);
}

}  // namespace slide
