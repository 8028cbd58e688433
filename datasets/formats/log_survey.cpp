#include "datasets/formats/log_survey.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "datasets/rows/line_chunks.h"
#include "datasets/rows/name_numbers.h"
#include "datasets/rows/row_parser.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

// For each byte, the separator that it is or may begin; kOther for other bytes.
constexpr std::uint8_t kOther = kSeparators;
constexpr std::array<std::uint8_t, 256> kKinds = [] {
  std::array<std::uint8_t, 256> kinds{};
  kinds.fill(kOther);
  const auto set = [&](char byte, Separator separator) {
    kinds[static_cast<unsigned char>(byte)] = static_cast<std::uint8_t>(separator);
  };
  set(':', Separator::kColons);
  set('\t', Separator::kTab);
  set(',', Separator::kComma);
  set(';', Separator::kSemicolon);
  set('|', Separator::kBar);
  set(' ', Separator::kBlanks);
  set('\r', Separator::kBlanks);
  return kinds;
}();

constexpr std::size_t index_of(Separator separator) {
  return static_cast<std::size_t>(separator);
}

// Adds lines to the statistics; reuses its memory. For one thread.
class Surveyor {
 public:
  explicit Surveyor(Separator separator) : separator_(separator) {}

  void take(std::string_view line) {
    if (std::memchr(line.data(), '"', line.size()) != nullptr) {
      take_quoted(line);
    } else {
      take_plain(line);
    }
    look_at_fields();
  }
  const LogFacts& facts() const { return facts_; }

 private:
  void count(Separator separator, std::size_t fields) {
    ++facts_.of_fields[index_of(separator)][std::min(fields, LogFacts::kMaxFields)];
  }

  // Counts the fields of a line under each separator in one pass, and its first separator. Quotes:
  // take_quoted().
  void take_plain(std::string_view line) {
    std::array<std::size_t, kSeparators> found{};
    std::uint8_t first = kOther;
    std::size_t words = 0;
    bool in_word = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
      const std::uint8_t kind = kKinds[static_cast<unsigned char>(line[at])];
      const bool ends_word = kind == index_of(Separator::kTab) || kind == index_of(Separator::kComma) ||
                             kind == index_of(Separator::kBlanks);
      if (!ends_word && !in_word) ++words;
      in_word = !ends_word;
      if (kind == kOther) continue;
      if (kind == index_of(Separator::kColons)) {
        if (at + 1 == line.size() || line[at + 1] != ':') continue;
        ++at;
      }
      ++found[kind];
      if (first == kOther) first = kind;
    }
    ++facts_.lines;
    if (first != kOther) ++facts_.first[first];
    for (const Separator separator : kStrictSeparators) count(separator, found[index_of(separator)] + 1);
    count(Separator::kBlanks, words);
    cut_fields(line, separator_, fields_, unquoted_);
  }

  // Counts the fields of a line with quotes under each separator, cutting it once for each.
  void take_quoted(std::string_view line) {
    ++facts_.lines;
    for (std::size_t s = 0; s < kSeparators; ++s) {
      const auto separator = static_cast<Separator>(s);
      cut(line, separator);
      count(separator, fields_.size());
      if (separator != Separator::kBlanks && fields_.size() > 1 && line.starts_with('"')) ++facts_.first[s];
    }
    cut(line, separator_);
  }

  // Takes quotes at fault for ordinary characters; the reader of the line reports the fault.
  void cut(std::string_view line, Separator separator) {
    unquoted_.clear();
    cut_any_fields(line, separator, fields_, unquoted_);
  }

  // Counts the fields by column. inner_blanks counts lines of two fields with blanks inside one of them (with
  // TAB as separator, also commas): the second field may be a list of items.
  void look_at_fields() {
    bool inner = false;
    const std::size_t columns = std::min(fields_.size(), LogFacts::kColumns);
    for (std::size_t column = 0; column < columns; ++column) facts_.columns[column].add(fields_[column]);
    if (separator_ != Separator::kBlanks && fields_.size() == 2) {
      const char* const inside = separator_ == Separator::kTab ? " ," : " ";
      for (const std::string_view field : fields_)
        inner = inner || field.find_first_of(inside) != std::string_view::npos;
    }
    facts_.inner_blanks += inner ? 1 : 0;
  }

  Separator separator_;
  LogFacts facts_;
  std::vector<std::string_view> fields_;
  UnquotedNames unquoted_;
};

template <class Take>
void for_each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (!is_blank_line(line)) take(line);
  }
}

}  // namespace

std::size_t ColumnFacts::unit() const {
  for (std::size_t unit = 0; unit < kTimeUnits; ++unit) {
    if (times[unit] > 0 && 10 * times[unit] >= 9 * values) return unit;
  }
  return kTimeUnits;
}

// Counts a field as date or number, and a number as a possible time. A first character that begins neither
// ends the check early, since most fields are names.
void ColumnFacts::add(std::string_view field) {
  if (field.empty()) return;
  ++values;
  const char front = field.front();
  if ((front < '0' || front > '9') && front != '-' && front != '+' && front != '.') return;
  if (date_in_field(field)) {
    ++dates;
  } else if (const std::optional<double> number = time_in_field(field)) {
    ++numbers;
    if (const std::optional<std::size_t> unit = time_unit_of(*number)) ++times[*unit];
  }
}

void ColumnFacts::add(const ColumnFacts& other) {
  values += other.values;
  numbers += other.numbers;
  dates += other.dates;
  for (std::size_t unit = 0; unit < kTimeUnits; ++unit) times[unit] += other.times[unit];
}

void LogFacts::add(const LogFacts& other) {
  lines += other.lines;
  inner_blanks += other.inner_blanks;
  for (std::size_t s = 0; s < kSeparators; ++s) {
    first[s] += other.first[s];
    for (std::size_t fields = 0; fields <= kMaxFields; ++fields)
      of_fields[s][fields] += other.of_fields[s][fields];
  }
  for (std::size_t column = 0; column < kColumns; ++column) columns[column].add(other.columns[column]);
}

std::uint64_t LogFacts::with(Separator separator) const {
  const auto& counts = of_fields[index_of(separator)];
  return lines - counts[0] - counts[1];
}

std::size_t LogFacts::common_fields(Separator separator) const {
  const auto& counts = of_fields[index_of(separator)];
  for (std::size_t fields = 2; fields < kMaxFields; ++fields) {
    if (counts[fields] > 0 && 10 * counts[fields] >= 9 * lines) return fields;
  }
  return 0;
}

bool LogFacts::all_have(Separator separator, std::size_t fields) const {
  return of_fields[index_of(separator)][fields] == lines;
}

// Surveys pieces of the text in parallel and adds up their facts.
LogFacts survey(std::span<const TextSource> sources, Separator separator, int threads,
                std::size_t chunk_bytes) {
  struct Piece {
    const TextSource* source;
    std::string_view text;
  };
  std::vector<Piece> pieces;
  for (const TextSource& source : sources) {
    const auto release_pages = [&](const char* begin, const char* end) { source.release_pages(begin, end); };
    for (const std::string_view text : cut_lines(source.text, chunk_bytes, release_pages))
      pieces.push_back({&source, text});
  }
  std::vector<LogFacts> facts(pieces.size());
  parallel_for(pieces.size(), threads, [&](std::size_t piece, int) {
    Surveyor surveyor(separator);
    const auto [source, text] = pieces[piece];
    for_each_line(text, [&](std::string_view line) { surveyor.take(line); });
    facts[piece] = surveyor.facts();
    source->release_pages(text.data(), text.data() + text.size());
  });
  LogFacts all;
  for (const LogFacts& piece : facts) all.add(piece);
  return all;
}

// Whether any user is on two lines; stops at the first.
bool repeats_user(std::span<const TextSource> sources, Separator separator, std::size_t column) {
  NameNumbers users;
  std::vector<std::string_view> fields;
  UnquotedNames unquoted;
  for (const TextSource& source : sources) {
    for (std::string_view rest = source.text; !rest.empty();) {
      const std::string_view line = take_line(rest);
      if (is_blank_line(line)) continue;
      if (!try_cut_fields(line, separator, fields, unquoted)) continue;
      if (fields.size() <= column || fields[column].empty()) continue;
      const std::size_t before = users.names().size();
      if (users(fields[column]) < before) return true;
    }
  }
  return false;
}

}  // namespace slide
