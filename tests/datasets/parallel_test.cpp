// Parsing gives equal data and errors for any number of threads and chunks, and agrees with a simple parser
// written for comparison.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "datasets/reader.h"
#include "datasets/rows/number_parser.h"
#include "datasets/rows/text_parser.h"
#include "engine/base/rng.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

constexpr std::uint32_t kFeatures = 60, kLabels = 20;

std::string random_value(Rng& rng) {
  switch (rng.below(6)) {
    case 0:
      return fmt::format("{}", rng.below(100));
    case 1:
      return fmt::format("{:.6g}", rng.uniform());
    case 2:
      return fmt::format("{:e}", rng.normal());
    case 3:
      return fmt::format("{:.17g}", rng.normal());
    case 4:
      return fmt::format("-{}.", rng.below(1000000));
    default:
      return fmt::format("{:.9f}", rng.uniform() * 1000);
  }
}

std::string random_line(Rng& rng) {
  std::string line;
  const std::uint32_t labels = rng.below(4), features = rng.below(8);
  for (std::uint32_t i = 0; i < labels; ++i)
    line += fmt::format("{}{}", i > 0 ? "," : "", rng.below(kLabels));
  for (std::uint32_t i = 0; i < features; ++i) {
    if (!line.empty() || rng.below(3) > 0) line += rng.below(10) == 0 ? "\t " : " ";
    line += fmt::format("{}:{}", rng.below(kFeatures), random_value(rng));
  }
  if (rng.below(5) == 0) line += " \r";
  return line;
}

// Changes, removes or doubles a random byte.
void mutate(std::string& line, Rng& rng) {
  constexpr std::string_view kBytes = "0123456789::,,  \t\r.-+eEnaix#";
  for (std::uint32_t edits = 1 + rng.below(2); edits > 0 && !line.empty(); --edits) {
    const std::size_t at = rng.below(static_cast<std::uint32_t>(line.size()));
    const char byte = kBytes[rng.below(static_cast<std::uint32_t>(kBytes.size()))];
    switch (rng.below(3)) {
      case 0:
        line[at] = byte;
        break;
      case 1:
        line.erase(at, 1);
        break;
      default:
        line.insert(at, 1, byte);
    }
  }
}

// ---- the simple parser: one line to its row as shown by show(), nullopt for a malformed line ----

std::optional<std::uint64_t> slow_id(const std::string& text, std::uint64_t limit) {
  if (text.empty() || text.size() > 15 || text.find_first_not_of("0123456789") != std::string::npos)
    return {};
  const std::uint64_t id = std::strtoull(text.c_str(), nullptr, 10);
  return id < limit ? std::optional(id) : std::nullopt;
}

std::optional<float> slow_value(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789.+-eE") != std::string::npos) return {};
  char* end = nullptr;
  const float value = std::strtof(text.c_str(), &end);
  if (*end != '\0' || !std::isfinite(value)) return {};
  return value;
}

std::vector<std::string> split(const std::string& text, const char* separators) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (std::string_view(separators).find(c) == std::string_view::npos) {
      parts.back() += c;
    } else {
      parts.emplace_back();
    }
  }
  return parts;
}

std::optional<std::string> slow_row(std::string line) {
  line.erase(line.find_last_not_of(" \t\r") + 1);
  std::vector<std::string> tokens = split(line, " \t");
  std::set<std::uint64_t> labels;
  std::map<std::uint64_t, float> features;
  if (!tokens[0].empty() && tokens[0].find(':') == std::string::npos) {
    const std::vector<std::string> parts = split(tokens[0], ",");
    for (const std::string& part : parts) {
      const auto label = slow_id(part, kLabels);
      if (!label) return {};
      labels.insert(*label);
    }
    if (parts.size() >= kLabels && *labels.rbegin() <= 1) return {};  // a column for each label, not ids
    tokens.erase(tokens.begin());
  }
  for (const std::string& token : tokens) {
    if (token.empty()) continue;
    const std::size_t colon = token.find(':');
    const auto id = slow_id(token.substr(0, colon), kFeatures);
    const auto value = colon == std::string::npos ? 1.0F : slow_value(token.substr(colon + 1));
    if (!id || !value) return {};
    const auto [place, first] = features.emplace(*id, *value);
    if (!first) place->second += *value;
    if (!std::isfinite(place->second)) return {};
  }
  std::string row;
  for (const auto label : labels) row += fmt::format("{}{}", row.empty() ? "" : ",", label);
  row += '|';
  const char* gap = "";
  for (const auto& [id, value] : features) {
    row += fmt::format("{}{}:{}", gap, id, value);
    gap = " ";
  }
  return row;
}

TEST(Differential, MutatedLinesAgreeWithTheSlowParser) {
  const ReadOptions options = {.format = DataFormat::kXmc, .normalize = false, .threads = 1};
  std::size_t accepted = 0, refused = 0;
  for (std::uint64_t round = 0; round < 20000; ++round) {
    Rng rng(5, Purpose::kTest, 1, round);
    std::string line = random_line(rng);
    if (round % 4 != 0) mutate(line, rng);
    const std::string text = fmt::format("1 {} {}\n{}\n", kFeatures, kLabels, line);
    const auto expected = slow_row(line);
    if (expected) {
      ++accepted;
      ASSERT_EQ(
          input_error([&] { EXPECT_EQ(show(parse_dataset(text, "f", options)), Rows{*expected}) << line; }),
          "")
          << line;
    } else {
      ++refused;
      ASSERT_NE(input_error([&] { parse_dataset(text, "f", options); }), "") << line;
    }
  }
  EXPECT_GT(accepted, 5000U);
  EXPECT_GT(refused, 3000U);
}

TEST(Differential, NumbersAgreeWithTheLibrary) {
  for (std::uint64_t round = 0; round < 200000; ++round) {
    Rng rng(6, Purpose::kTest, 2, round);
    std::string text;
    if (rng.below(2) == 0) text += rng.below(2) == 0 ? "-" : "+";
    for (std::uint32_t i = rng.below(10); i > 0; --i) text += static_cast<char>('0' + rng.below(10));
    if (rng.below(4) > 0) text += '.';
    for (std::uint32_t i = rng.below(21); i > 0; --i) text += static_cast<char>('0' + rng.below(10));
    if (rng.below(4) == 0) text += fmt::format("e{}", static_cast<int>(rng.below(90)) - 50);
    const auto expected = slow_value(text);
    const std::string padded = text + std::string(kReadAhead, '\n');
    const ParsedFloat got = parse_float(padded.data(), padded.data() + text.size());
    const bool whole = got.fault == NumberFault::kNone && got.end == padded.data() + text.size();
    ASSERT_EQ(whole, expected.has_value()) << text;
    if (expected) {
      ASSERT_EQ(got.value, *expected) << text;
    }
  }
}

// Decimal numbers at and next to the midpoint of two floats.
TEST(Differential, RoundsNearMidpointsCorrectly) {
  for (std::uint64_t round = 0; round < 20000; ++round) {
    Rng rng(7, Purpose::kTest, 3, round);
    const auto low =
        static_cast<float>(std::ldexp(1.0 + rng.uniform(), static_cast<int>(rng.below(30)) - 12));
    const double middle = (double{low} + double{std::nextafter(low, INFINITY)}) / 2;
    for (const int digits : {15, 16, 17, 18, 25}) {
      const std::string text = fmt::format("{:.{}f}", middle, std::min(digits, 25));
      const std::string padded = text + std::string(kReadAhead, '\n');
      ASSERT_EQ(parse_float(padded.data(), padded.data() + text.size()).value,
                std::strtof(text.c_str(), nullptr))
          << text;
    }
  }
}

TEST(Parallel, AnyThreadsAndChunksGiveTheSameData) {
  std::string body;
  Rng rng(8, Purpose::kTest);
  for (int i = 0; i < 500; ++i) body += random_line(rng) + "\n";
  const std::string text = fmt::format("503 {} {}\n{}\n\n\n", kFeatures, kLabels, body);
  ReadOptions options = {.format = DataFormat::kXmc, .threads = 1};
  const Rows expected = show(parse_text(text, "f", options));
  EXPECT_EQ(expected.size(), 503U);
  for (const int threads : {1, 4}) {
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{50}, std::size_t{4096}}) {
      options.threads = threads;
      EXPECT_EQ(show(parse_text(text, "f", options, chunk)), expected)
          << threads << " threads, chunk " << chunk;
    }
  }
}

TEST(Parallel, LibsvmTooWithLinesThatAreNoSamples) {
  std::string text;
  Rng rng(9, Purpose::kTest);
  for (int i = 0; i < 300; ++i) text += i % 5 == 0 ? "# 1:2, 3\n\n" : random_line(rng) + " # 4:5 \n";
  ReadOptions options = {.format = DataFormat::kLibsvm, .threads = 1};
  const Rows expected = show(parse_text(text, "f", options));
  options.threads = 4;
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{100}}) {
    EXPECT_EQ(show(parse_text(text, "f", options, chunk)), expected);
  }
}

}  // namespace
}  // namespace slide
