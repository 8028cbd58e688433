#include "engine/config/field.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "datasets/rows/data_parts.h"

namespace slide::config {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

std::string text_of(const IntRange& range) {
  return fmt::format("{}..{}", range.low, range.high);
}

std::string text_of(const RealRange& range) {
  return fmt::format("{}{}, {}{}", range.low_open ? '(' : '[', range.low, range.high,
                     range.high_open ? ')' : ']');
}

// One path as a string, several as a list.
std::string text_of_files(const std::string& path) {
  const std::vector<std::string> parts = named_parts(path);
  if (parts.size() == 1) return quote(path);
  std::string list;
  for (const std::string& part : parts) list += (list.empty() ? "[" : ", ") + quote(part);
  return list + ']';
}

}  // namespace

std::string type_text(const Field& field) {
  return std::visit(
      Overloaded{[](const Flag&) { return "boolean"; }, [](const Text&) { return "string"; },
                 [](const Files&) { return "string or list of strings"; },
                 [](const Count&) { return "integer"; }, [](const BigCount&) { return "integer"; },
                 [](const Real&) { return "number"; }, [](const RealOrAuto&) { return "number or \"auto\""; },
                 [](const ShareOrFile&) { return "number, string or list of strings"; },
                 [](const PowerOrFile&) { return "number or string"; },
                 [](const NewestItems&) { return "boolean or number"; },
                 [](const Time&) { return "string, number or date"; },
                 [](const CountList&) { return "list of integers"; }, [](const Choice&) { return "choice"; }},
      field.value);
}

std::string range_text(const Field& field) {
  return std::visit(
      Overloaded{
          [](const Flag&) { return std::string("true, false"); }, [](const Text&) { return std::string(); },
          [](const Files&) { return std::string(); }, [](const Time&) { return std::string(); },
          [](const NewestItems&) { return fmt::format("true, false, 1..{}, (0, 1)", NewestItems::kMax); },
          [](const Choice& choice) { return fmt::format("{}", fmt::join(choice.names, ", ")); },
          [](const auto& number) { return text_of(number.range); }},
      field.value);
}

std::string expects_text(const Field& field) {
  const std::string range = range_text(field);
  return std::visit(
      Overloaded{[](const Flag&) { return std::string("true or false"); },
                 [](const Text&) { return std::string("a string"); },
                 [](const Files&) { return std::string("a file, or a list of files"); },
                 [](const Time&) { return std::string("a date, as 2024-06-01, or a number"); },
                 [](const NewestItems&) {
                   return std::string("true, false, a number of items, or a share of them below 1");
                 },
                 [&](const Choice&) { return fmt::format("one of {}", range); },
                 [&](const Real&) { return fmt::format("a number in {}", range); },
                 [&](const RealOrAuto&) { return fmt::format("a number in {}, or \"auto\"", range); },
                 [&](const ShareOrFile&) {
                   return fmt::format("a number in {}, a file, or a list of files", range);
                 },
                 [&](const PowerOrFile&) { return fmt::format("a number in {}, or a file", range); },
                 [&](const CountList&) { return fmt::format("a list of ascending integers in {}", range); },
                 [&](const auto&) { return fmt::format("an integer in {}", range); }},
      field.value);
}

std::string value_text(const Field& field) {
  return std::visit(
      Overloaded{
          [](const Text& text) { return quote(*text.member); },
          [](const Files& files) { return text_of_files(*files.member); },
          [](const Real& real) { return real_text(*real.member); },
          [](const RealOrAuto& real) { return *real.member ? real_text(**real.member) : quote("auto"); },
          [](const ShareOrFile& either) {
            const ValidationSource& source = *either.member;
            return source.file.empty() ? real_text(source.share) : text_of_files(source.file);
          },
          [](const PowerOrFile& either) {
            const LabelWeights& weights = *either.member;
            return weights.file.empty() ? real_text(weights.power) : quote(weights.file);
          },
          [](const NewestItems& newest) {
            const TestNewest& value = *newest.member;
            if (value.share > 0) return real_text(value.share);
            return value.items < 2 ? std::string(value.items == 1 ? "true" : "false")
                                   : std::to_string(value.items);
          },
          [](const Time& time) { return quote(*time.member); },
          [](const CountList& list) { return fmt::format("[{}]", fmt::join(*list.member, ", ")); },
          [](const Choice& choice) {
            const std::size_t value = choice.get(choice.member);
            return value < choice.names.size() ? quote(choice.names[value]) : std::to_string(value);
          },
          [](const auto& plain) { return fmt::format("{}", *plain.member); }},
      field.value);
}

bool list_in_range(std::span<const std::uint32_t> list, const IntRange& range) {
  return !list.empty() && std::ranges::all_of(list, [&](auto value) { return range.contains(value); }) &&
         std::ranges::adjacent_find(list, std::greater_equal<>()) == list.end();
}

bool in_range(const Field& field) {
  return std::visit(
      Overloaded{[](const Flag&) { return true; }, [](const Text&) { return true; },
                 [](const Files&) { return true; },
                 [](const Choice& choice) { return choice.get(choice.member) < choice.names.size(); },
                 [](const Count& count) { return count.range.contains(*count.member); },
                 [](const BigCount& count) {
                   return *count.member <= static_cast<std::uint64_t>(count.range.high) &&
                          count.range.contains(static_cast<std::int64_t>(*count.member));
                 },
                 [](const Real& real) { return real.range.contains(*real.member); },
                 [](const RealOrAuto& real) { return !*real.member || real.range.contains(**real.member); },
                 [](const ShareOrFile& either) { return either.range.contains(either.member->share); },
                 [](const PowerOrFile& either) { return either.range.contains(either.member->power); },
                 [](const NewestItems& newest) {
                   return newest.member->items <= NewestItems::kMax && newest.member->share >= 0 &&
                          newest.member->share < 1;
                 },
                 [](const Time&) { return true; },
                 [](const CountList& list) { return list_in_range(*list.member, list.range); }},
      field.value);
}

std::string real_text(double value) {
  std::string text = fmt::format("{}", value);
  const bool integral = text.find_first_not_of("-0123456789") == std::string::npos;
  return integral ? text + ".0" : text;
}

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\u{:04X}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace slide::config
