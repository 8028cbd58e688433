#include "datasets/sidecar/label_pairs.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>

#include "datasets/rows/file_bytes.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/row_parser.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"

namespace slide {

namespace {

// Position in a file.
struct Place {
  const std::string& path;
  std::size_t line;
};

// Parses and removes an integer below `limit` at the start of `rest`, the remainder of `line`.
std::uint32_t take_number(std::string_view line, std::string_view& rest, const Place& place, const char* what,
                          std::uint64_t limit) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  const std::size_t column = line.size() - rest.size() + 1;
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  const auto length = static_cast<std::size_t>(stop - rest.data());
  const bool ends = length == rest.size() || rest[length] == ' ' || rest[length] == '\t';
  if (error != std::errc() || !ends) {
    fail_input("{}:{}:{}: '{}' is no {}; a line is 'sample label', both counted from 0", place.path,
               place.line, column, shown_part(rest.substr(0, rest.find_first_of(" \t"))), what);
  }
  if (value >= limit) {
    fail_input("{}:{}:{}: {} {} is out of range; there are {}, counted from 0", place.path, place.line,
               column, what, value, limit);
  }
  rest.remove_prefix(length);
  return static_cast<std::uint32_t>(value);
}

}  // namespace

// Converts (sample, label) pairs to CSR: sorts them, counts the labels of each sample and sums the counts.
LabelPairs::LabelPairs(std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs, std::size_t samples)
    : offsets_(samples + 1) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  for (const auto& pair : pairs) {
    ++offsets_[pair.first + 1];
    labels_.push_back(pair.second);
  }
  for (std::size_t i = 0; i < samples; ++i) {
    max_per_sample_ = std::max(max_per_sample_, offsets_[i + 1]);
    offsets_[i + 1] += offsets_[i];
  }
}

bool LabelPairs::has(std::size_t sample, std::uint32_t label) const {
  return std::ranges::binary_search(of(sample), label);
}

LabelPairs read_label_pairs(const std::string& path, std::size_t samples, std::uint32_t labels) {
  const FileBytes bytes(path);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::string_view text = bytes.text();
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (is_blank_line(line)) continue;
    std::string_view rest = line;
    const Place place{path, number};
    const std::uint32_t sample = take_number(line, rest, place, "sample", samples);
    const std::uint32_t label = take_number(line, rest, place, "label", labels == 0 ? kIdLimit : labels);
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    if (!rest.empty()) {
      fail_input("{}:{}:{}: there is more than 'sample label' in this line", path, number,
                 line.size() - rest.size() + 1);
    }
    pairs.emplace_back(sample, label);
  }
  return {std::move(pairs), samples};
}

// Copies the labels without the excluded ones, and shares all other arrays.
Dataset labels_without(const Dataset& data, const LabelPairs& pairs) {
  struct Kept {
    Dataset data;
    std::vector<std::uint64_t> offsets{0};
    std::vector<std::uint32_t> ids;
  };
  const auto kept = std::make_shared<Kept>();
  kept->data = data;
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::ranges::set_difference(data.labels(i), pairs.of(i), std::back_inserter(kept->ids));
    kept->offsets.push_back(kept->ids.size());
  }
  DatasetView view = data.view();
  view.label_offsets = kept->offsets;
  view.label_ids = kept->ids;
  return {kept, view, data.feature_count(), data.label_count()};
}

}  // namespace slide
