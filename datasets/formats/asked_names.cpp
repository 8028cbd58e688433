#include "datasets/formats/asked_names.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "engine/base/foreign_text.h"

namespace slide {

namespace {

// Quotes inside are doubled.
std::string in_quotes(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

class Quoting {
 public:
  Quoting(Separator separator, const LogUsers& users, const TextModel& items)
      : separator_(separator), users_(users), items_(items) {}

  // Returns `text` with quotes, or nothing where it stays as it is.
  std::string quoted(std::string_view text) {
    std::string result;
    const char* copied = text.data();
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view line = take_line(rest);
      if (line.find_first_of(kDividers) == std::string_view::npos) continue;
      if (const std::string_view name = trimmed(line); users_.row_of(name)) {
        result.append(copied, name.data()).append(in_quotes(name));
        copied = name.data() + name.size();
        continue;
      }
      if (line.find('"') != std::string_view::npos) continue;
      cut_fields(line, separator_, fields_, unquoted_);
      for (std::size_t at = 0; at < fields_.size(); ++at) {
        const std::string_view field = fields_[at];
        if (field.find(' ') == std::string_view::npos || !is_known(field, at == 0)) continue;
        result.append(copied, field.data()).append(1, '"').append(field).append(1, '"');
        copied = field.data() + field.size();
      }
    }
    if (!result.empty()) result.append(copied, text.data() + text.size());
    return result;
  }

 private:
  static constexpr std::string_view kDividers = " ,;|\t:";  // characters that divide a name without quotes

  bool is_known(std::string_view name, bool of_user) const {
    return of_user ? users_.row_of(name).has_value() : items_.label_id(name).has_value();
  }

  Separator separator_;
  const LogUsers& users_;
  const TextModel& items_;
  std::vector<std::string_view> fields_;
  UnquotedNames unquoted_;
};

}  // namespace

AskedSources::AskedSources(std::span<const TextSource> sources, Separator separator, const LogUsers& users,
                           const TextModel& items)
    : sources_(sources.begin(), sources.end()) {
  if (separator == Separator::kBlanks) return;
  Quoting quoting(separator, users, items);
  for (TextSource& source : sources_) {
    std::string text = quoting.quoted(source.text);
    if (!text.empty()) source = {texts_.emplace_back(std::move(text)), source.origin, nullptr};
  }
}

namespace {

// The longest beginning of a line, up to a blank, that is a user; else all of it.
std::string_view name_in(std::string_view line, const LogUsers& users) {
  for (std::size_t end = line.size(); end != std::string_view::npos && end > 0;
       end = line.rfind(' ', end - 1)) {
    const std::string_view name = trimmed(line.substr(0, end));
    if (name.find(' ') != std::string_view::npos && users.row_of(name)) return name;
  }
  return line;
}

// First words of the names that hold blanks.
std::unordered_set<std::string_view> first_words_of(const LogUsers& users) {
  std::unordered_set<std::string_view> words;
  for (std::size_t row = 0; row < users.size(); ++row) {
    const std::string_view name = users.name(row);
    if (const std::size_t end = name.find(' '); end != std::string_view::npos)
      words.insert(name.substr(0, end));
  }
  return words;
}

}  // namespace

// Warns of the first line whose first word is no user, but the first word of a user's name with blanks: the
// name then lacks quotes.
std::string divided_name_warning(std::span<const TextSource> sources, const LogUsers& users) {
  const auto first_words = first_words_of(users);
  if (first_words.empty()) return {};
  for (const TextSource& source : sources) {
    std::uint64_t number = 0;
    for (std::string_view rest = source.text; !rest.empty();) {
      const std::string_view line = trimmed(take_line(rest));
      ++number;
      const std::size_t end = line.find(' ');
      if (end == std::string_view::npos || line.find('"') != std::string_view::npos) continue;
      const std::string_view first = line.substr(0, end);
      if (!first_words.contains(first) || users.row_of(first)) continue;
      const std::string_view name = name_in(line, users);
      return fmt::format(
          "{}:{}: '{}' is read as the user '{}' and items; names with blanks go into quotes, as \"{}\"{}",
          source.origin, number, shown_part(line), shown_part(first), shown_part(name),
          shown_part(line.substr(name.size())));
    }
  }
  return {};
}

}  // namespace slide
