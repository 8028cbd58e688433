#include "datasets/formats/log_decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>

#include "datasets/rows/line_chunks.h"
#include "engine/base/error.h"
#include "engine/base/number_text.h"

namespace slide {

namespace {

constexpr std::size_t kUserColumn = 0, kItemColumn = 1, kThird = 2, kFourth = 3;
constexpr std::size_t kMaxPairFields = 4;  // user, item, weight, time

// Whether `some` is at least nine tenths of `all`.
bool is_most(std::uint64_t some, std::uint64_t all) {
  return all > 0 && 10 * some >= 9 * all;
}

// Whether a separator counts only where no other one is before it: names may hold it, too.
bool must_be_first(Separator separator) {
  return separator != Separator::kBlanks && separator != Separator::kTab && separator != Separator::kComma;
}

// Returns the separator of a log of lists, whose lines have different numbers of items.
Separator separator_of_lists(const LogFacts& facts) {
  const auto of = [&](Separator separator) -> const auto& {
    return facts.of_fields[static_cast<std::size_t>(separator)];
  };
  const std::uint64_t alone = of(Separator::kBlanks)[1];  // lines of one field: users without items
  const std::uint64_t blank_first = facts.first[static_cast<std::size_t>(Separator::kBlanks)];
  for (const Separator separator : {Separator::kTab, Separator::kComma}) {
    const std::uint64_t two = of(separator)[2];
    const bool several = facts.with(separator) > two;
    if (several && facts.with(separator) + alone >= facts.lines && 10 * blank_first < facts.lines)
      return separator;
  }
  if (alone < facts.lines) return Separator::kBlanks;
  for (const Separator separator : {Separator::kSemicolon, Separator::kBar, Separator::kColons}) {
    if (is_most(facts.with(separator), facts.lines)) return separator;
  }
  return Separator::kBlanks;
}

enum class Holds { kNothing, kNumbers, kTimes, kNames };

Holds held_by(const ColumnFacts& column) {
  if (column.values == 0) return Holds::kNothing;
  if (column.are_times()) return Holds::kTimes;
  return column.are_numbers() ? Holds::kNumbers : Holds::kNames;
}

bool is_mostly_numbers(const ColumnFacts& column) {
  return is_most(column.numbers + column.dates, column.values);
}

bool has_hardly_numbers(const ColumnFacts& column) {
  return is_most(column.values - column.numbers - column.dates, column.values);
}

class Decision {
 public:
  Decision(const LogQuestion& asked, std::vector<std::string>& warnings)
      : asked_(asked), facts_(asked.facts), warnings_(warnings) {}

  // The configuration decides first, then a part that was read earlier, then the fields of the lines.
  LogLayout layout() {
    fields_ = facts_.common_fields(asked_.separator);
    if (asked_.options.form == LogForm::kLists || facts_.lines == 0) return lists();
    if (names_any() && (!asked_.known || has_named())) return named_pairs();
    used_ = std::min(fields_, LogFacts::kColumns);
    while (used_ > 2 && facts_.columns[used_ - 1].values == 0) --used_;
    if (asked_.options.form == LogForm::kPairs) return configured_pairs();
    if (asked_.known && asked_.known->fields > 0) return pairs_like_known();
    if (used_ == 2) return of_two();
    if (used_ > 2) {
      refuse_unclear();
      refuse_other_order();
    }
    if (used_ == 3 || used_ == kMaxPairFields) return of_more();
    return lists();
  }

 private:
  const ColumnFacts& column(std::size_t at) const { return facts_.columns[at]; }
  Holds holds(std::size_t at) const { return at < used_ ? held_by(column(at)) : Holds::kNothing; }
  const std::string& origin() const { return asked_.bodies.front().origin; }
  bool names_any() const {
    const LogOptions& log = asked_.options;
    return !log.user.empty() || !log.item.empty() || !log.weight.empty() || !log.time.empty();
  }

  // Whether all columns that options name by number exist. Samples to predict for may be lists without them.
  bool has_named() const {
    const LogOptions& log = asked_.options;
    const auto exists = [&](const std::string* column) {
      return number_of<std::size_t>(*column).value_or(0) <= fields_;
    };
    return std::ranges::all_of(std::array{&log.user, &log.item, &log.weight, &log.time}, exists);
  }

  // Whether the known log has a separator that separates no fields of other lists, some lines have it, and no
  // line has another one before it.
  bool has_known_separator() const {
    if (!asked_.known || !asked_.known->separator) return false;
    const Separator separator = *asked_.known->separator;
    const bool parts = must_be_first(separator) && facts_.with(separator) > 0;
    const auto first = [&](Separator of) { return facts_.first[static_cast<std::size_t>(of)]; };
    return parts && first(Separator::kBlanks) + first(Separator::kTab) + first(Separator::kComma) == 0;
  }

  LogLayout lists() const {
    LogLayout layout;
    layout.separator = has_known_separator() ? *asked_.known->separator : separator_of_lists(facts_);
    return layout;
  }

  // User and item in the first two columns, weight and time in the given ones.
  LogLayout pairs(std::optional<std::size_t> weight, std::optional<std::size_t> time) const {
    LogLayout layout;
    layout.form = TextForm::kItemPairs;
    layout.separator = asked_.separator;
    layout.fields = fields_;
    layout.columns = {kUserColumn, kItemColumn, weight, time};
    if (asked_.options.in_order) layout.columns.time.reset();
    refuse_unnamed_header(layout);
    return layout;
  }

  LogLayout warned(LogLayout layout, const std::string& what) {
    warnings_.push_back(fmt::format("{}: {}", origin(), what));
    return layout;
  }

  // Whether a user is on several lines, as in logs of pairs; or the known log has pairs.
  bool repeats() {
    if (asked_.known && asked_.known->form == TextForm::kItemPairs) return true;
    if (!repeats_) repeats_ = repeats_user(asked_.bodies, asked_.separator, kUserColumn);
    return *repeats_;
  }

  // Lines of two fields are pairs, unless a field has separators inside and no user is on two lines: then it
  // is a list.
  LogLayout of_two() {
    if (!facts_.all_have(asked_.separator, fields_)) return lists();
    if (facts_.inner_blanks == 0) return pairs({}, {});
    if (repeats())
      return warned(
          pairs({}, {}),
          "names with blanks or commas are read whole, as of one item a line; where they are several "
          "items, set data.log=lists");
    return warned(lists(),
                  "every line is read as a user and its items, with blanks and commas between them; where it "
                  "is a user and one item, set data.log=pairs");
  }

  // Throws where the first two columns of three or four cannot be a user and an item or two items: a weight
  // or a time is among them.
  void refuse_other_order() {
    if (asked_.known || used_ > kMaxPairFields || !has_hardly_numbers(column(kThird))) return;
    if (is_mostly_numbers(column(kItemColumn)))
      fail(fmt::format("column {} holds numbers and column {} none", kItemColumn + 1, kThird + 1));
    if (held_by(column(kUserColumn)) == Holds::kTimes) fail("column 1 holds times");
    if (is_mostly_numbers(column(kUserColumn)) && has_hardly_numbers(column(kItemColumn)) && few_in_first())
      fail("column 1 holds a few numbers again and again, as weights do");
  }

  // Whether the first column of the first lines has at most 20 values, each on five lines on average or more.
  bool few_in_first() const {
    constexpr std::size_t kLines = 1000, kMaxValues = 20, kLinesEach = 5;
    std::unordered_set<std::string> values;
    std::vector<std::string_view> fields;
    UnquotedNames unquoted;
    std::size_t lines = 0;
    for (std::string_view rest = asked_.bodies.front().text; lines < kLines && !rest.empty();) {
      const std::string_view line = take_line(rest);
      if (!try_cut_fields(line, asked_.separator, fields, unquoted) || fields.empty()) continue;
      values.emplace(fields.front());
      ++lines;
    }
    return values.size() <= kMaxValues && lines >= kLinesEach * values.size();
  }

  // Throws for columns that are neither lists nor in the order of pairs: dates, or numbers before names.
  void refuse_unclear() const {
    std::optional<std::size_t> numbers, names;
    for (std::size_t at = 0; at < used_; ++at) {
      if (at < kThird && column(at).are_dates()) fail(fmt::format("column {} holds times", at + 1));
      if (at < kThird) continue;
      if (is_mostly_numbers(column(at))) numbers = at;
      if (column(at).values > 0 && has_hardly_numbers(column(at))) names = at;
    }
    const bool times = std::ranges::any_of(facts_.columns.begin() + kThird,
                                           facts_.columns.begin() + static_cast<std::ptrdiff_t>(used_),
                                           [](const ColumnFacts& c) { return c.are_dates(); });
    if (used_ > kMaxPairFields && times)
      fail(fmt::format("there are {} columns with times among them", used_));
    if (used_ > kMaxPairFields && numbers && holds(*numbers) == Holds::kTimes &&
        holds(kItemColumn) != Holds::kTimes)
      fail(fmt::format("there are {} columns, and column {} holds times", used_, *numbers + 1));
    if (used_ <= kMaxPairFields && numbers && names)
      fail(fmt::format("column {} holds numbers and column {} none", *numbers + 1, *names + 1));
  }

  [[noreturn]] void fail(const std::string& what) const {
    fail_input(
        "{}:1:1: {}: say which columns are what by number, as data.user=1 data.item=2, with data.weight and "
        "data.time where there are some; or data.log=lists where each line is a user and its items",
        origin(), what);
  }

  // The layout of lines of three or four fields.
  LogLayout of_more() {
    const Holds third = holds(kThird), fourth = holds(kFourth);
    const bool items_are_times = holds(kItemColumn) == Holds::kTimes && !column(kItemColumn).are_dates();
    const bool dates = column(kThird).are_dates() || (used_ > kThird + 1 && column(kFourth).are_dates());
    const bool has_times = third == Holds::kTimes || fourth == Holds::kTimes;
    const bool names_only = third == Holds::kNames && (fourth == Holds::kNames || used_ == 3);
    if (names_only) return lists();
    if (third == Holds::kTimes && fourth == Holds::kTimes && (dates || !items_are_times))
      fail("columns 3 and 4 hold times");
    const bool only_times = has_times && (dates || !items_are_times);
    const bool items_are_names = holds(kItemColumn) == Holds::kNames;
    if (third == Holds::kNames || (fourth == Holds::kNames && used_ > 3))
      return repeats() ? placed() : lists();
    if (only_times || repeats() || items_are_names) return placed();
    return warned(
        lists(),
        fmt::format("every line is read as a user and {} items; where it is 'user item weight{}', set "
                    "data.log=pairs",
                    used_ - 1, used_ == 3 ? "" : " time"));
  }

  // Pairs; the content of columns 3 and 4 decides which is the weight and which the time.
  LogLayout placed() {
    std::optional<std::size_t> weight, time;
    for (std::size_t at = kThird; at < used_; ++at) {
      if (holds(at) == Holds::kNothing) continue;
      const bool later = weight.has_value() && !time;
      if (!time && (holds(at) == Holds::kTimes || later)) {
        time = at;
      } else if (!weight) {
        weight = at;
      }
    }
    LogLayout layout = pairs(weight, time);
    if (weight && !time && holds(kItemColumn) == Holds::kTimes && !asked_.known)
      return warned(
          layout,
          "column 2 holds what could be times, and is read as items; if so, say which columns are what "
          "by data.user, data.item, data.weight and data.time");
    return layout;
  }

  // The layout with data.log = pairs.
  LogLayout configured_pairs() {
    if (used_ >= 2 && used_ <= kMaxPairFields) return placed();
    if (used_ > kMaxPairFields) fail(fmt::format("there are {} columns", used_));
    fail_input(
        "{}:1:1: data.log=pairs, but lines have different numbers of fields; write 'user item [weight "
        "[time]]' throughout",
        origin());
  }

  static constexpr const char* kPartlyPairs =
      "lines of different numbers of fields are read as a user and its items each; where some are 'user item "
      "weight', write all in the form of the training log";

  // Whether some lines, but not most, have as many fields as a user, an item and a weight, or a time besides,
  // by the separator of the known log.
  bool has_lines_with_weights() const {
    const auto separator = asked_.known->separator;
    if (!separator || *separator == Separator::kBlanks || asked_.known->fields < 3) return false;
    if (*separator == asked_.separator && used_ > 2) return false;
    const auto& lines = facts_.of_fields[static_cast<std::size_t>(*separator)];
    return lines[3] > 0 || (asked_.known->fields > 3 && lines[4] > 0);
  }

  // The layout of samples to predict for, by the known log: pairs where lines have two fields, or as many as
  // the known log with its separator, or a time in the last field. Else lists of items; these may have blanks
  // between items where the known log has another separator.
  LogLayout pairs_like_known() {
    const bool pairs_known = asked_.known->form == TextForm::kItemPairs;
    if (used_ == 2 && facts_.all_have(asked_.separator, fields_))
      return facts_.inner_blanks > 0 && !pairs_known ? lists() : pairs({}, {});
    const auto is_number = [&](std::size_t at) {
      return at >= used_ || holds(at) == Holds::kNumbers || holds(at) == Holds::kTimes;
    };
    if (pairs_known && has_lines_with_weights()) return warned(lists(), kPartlyPairs);
    if (!pairs_known || used_ < 3 || used_ > asked_.known->fields || !is_number(kThird) ||
        !is_number(kFourth))
      return lists();
    const bool same_separator = !asked_.known->separator || asked_.known->separator == asked_.separator;
    const bool timed = holds(used_ - 1) == Holds::kTimes;
    if (timed && (same_separator || used_ == asked_.known->fields)) return placed();
    if (same_separator && used_ == 3 && asked_.known->fields == 3) return placed();
    if (same_separator && used_ == 3 && asked_.separator != Separator::kBlanks)
      return warned(
          placed(),
          "every line is read as a user, an item and a weight, as those of the training log without a "
          "time; where it is a user and two items, put blanks between them");
    if (same_separator && used_ == kMaxPairFields)
      return warned(lists(),
                    "every line is read as a user and three items, for the last column holds no times");
    return lists();
  }

  // Index of the column that option `key` names by number; nothing where it names none.
  std::optional<std::size_t> place(const std::string& wanted, std::string_view key) const {
    if (wanted.empty() || wanted == LogOptions::kNoColumn) return std::nullopt;
    const std::size_t number = number_of<std::size_t>(wanted).value_or(0);
    if (number == 0 || number > fields_)
      fail_input("{}:1:1: there is no column {}, which {} names; there are {}", origin(), wanted, key,
                 fields_);
    return number - 1;
  }

  // Pairs in the columns that options name by number.
  LogLayout named_pairs() {
    const LogOptions& log = asked_.options;
    if (fields_ < 2)
      fail_input(
          "{}:1:1: columns are named by number, but lines have different numbers of fields; write as "
          "many in each",
          origin());
    LogLayout layout;
    layout.form = TextForm::kItemPairs;
    layout.separator = asked_.separator;
    layout.fields = fields_;
    layout.columns = {place(log.user, "data.user").value_or(kUserColumn),
                      place(log.item, "data.item").value_or(kItemColumn), place(log.weight, "data.weight"),
                      log.in_order ? std::nullopt : place(log.time, "data.time")};
    if (layout.columns.user == layout.columns.item)
      fail_input("{}:1:1: data.user and data.item are the same column; name two", origin());
    return layout;
  }

  // Throws for a first line of unknown column names above lines of numbers.
  void refuse_unnamed_header(const LogLayout& layout) const {
    if (facts_.lines < 3) return;
    for (const std::size_t at : {kUserColumn, kItemColumn}) {
      if (column(at).values != facts_.lines || column(at).numbers + 1 != facts_.lines) return;
    }
    std::string_view rest = asked_.bodies.front().text;
    const std::string_view line = take_line(rest);
    std::vector<std::string_view> names;
    UnquotedNames unquoted;
    if (!try_cut_fields(line, layout.separator, names, unquoted)) return;  // the reader reports it
    if (names.size() < 2 || time_in_field(names[0]) || time_in_field(names[1])) return;
    fail_input(
        "{}:1:1: the first line is no numbers as the others are; if '{}' and '{}' name columns, set "
        "data.user "
        "and data.item to the names of those of users and items",
        origin(), names[0], names[1]);
  }

  const LogQuestion& asked_;
  const LogFacts& facts_;
  std::vector<std::string>& warnings_;
  std::size_t fields_ = 0;  // number of fields of nine of ten lines; 0: none
  std::size_t used_ = 0;    // fields up to the last column with content
  std::optional<bool> repeats_;
};

}  // namespace

Separator separator_of(const LogFacts& facts) {
  for (const Separator separator : kStrictSeparators) {
    if (facts.common_fields(separator) == 0) continue;
    if (must_be_first(separator) && !is_most(facts.first[static_cast<std::size_t>(separator)], facts.lines))
      continue;
    return separator;
  }
  return Separator::kBlanks;
}

// Warns besides where '::' divides lines that are read as divided by blanks.
LogLayout decide_layout(const LogQuestion& asked, std::vector<std::string>& warnings) {
  LogLayout layout = Decision(asked, warnings).layout();
  const std::size_t parts = asked.facts.common_fields(Separator::kColons);
  if (layout.separator == Separator::kBlanks && parts > 1) {
    warnings.push_back(
        fmt::format("{}: blanks end fields, though lines have {} parts between '::'; where '::' separates "
                    "fields and names hold blanks, write TABs in place of '::'",
                    asked.bodies.front().origin, parts));
  }
  return layout;
}

}  // namespace slide
