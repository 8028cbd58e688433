#include "datasets/sidecar/label_weights.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "datasets/rows/file_bytes.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/sample_weights.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"

namespace slide {

namespace {

constexpr float kMaxWeight = 1e6F;  // as of loss.positive_weight

// Parses lines of name, tab and weight.
class NamedWeights {
 public:
  NamedWeights(const std::string& path, const TextModel& names, const std::string& data)
      : path_(path), names_(names), data_(data), weights_(names.label_count(), 1.0f) {
    given_.resize(weights_.size());
  }
  // Parses `label<TAB>weight`; the last TAB divides, since a label may contain TABs.
  void add(std::string_view line) {
    ++number_;
    if (trimmed(line).empty())
      fail_input("{}:{}: the line is blank; give a label, a TAB and its weight", path_, number_);
    const std::size_t tab = line.rfind('\t');
    if (tab == std::string_view::npos)
      fail_input("{}:{}: no TAB stands between a label and its weight", path_, number_);
    const std::string_view text = trimmed(line.substr(tab + 1));
    const std::optional<float> weight = weight_in(text);
    if (!weight)
      fail_input("{}:{}: the weight '{}' is no number from 0 on; give one behind the TAB", path_, number_,
                 shown_part(text));
    put(trimmed(line.substr(0, tab)), *weight);
  }
  std::vector<float> take() && { return std::move(weights_); }

 private:
  void put(std::string_view name, float weight) {
    const std::optional<std::uint32_t> label = names_.label_id(name);
    if (!label)
      fail_input("{}:{}: {} has no label '{}'; leave the line out", path_, number_, data_, shown_part(name));
    if (given_[*label])
      fail_input("{}:{}: the label '{}' has a weight already; give it one", path_, number_, shown_part(name));
    given_[*label] = true;
    weights_[*label] = weight;
  }

  const std::string& path_;
  const TextModel& names_;
  const std::string& data_;
  std::size_t number_ = 0;
  std::vector<float> weights_;
  std::vector<bool> given_;
};

std::vector<float> read_named(std::string_view text, NamedWeights weights) {
  while (!text.empty()) weights.add(take_line(text));
  return std::move(weights).take();
}

bool names_labels(std::string_view text) {
  return !text.empty() && take_line(text).find('\t') != std::string_view::npos;
}

}  // namespace

std::vector<float> read_label_weights(const std::string& path, std::size_t labels, const TextModel* names,
                                      const std::string& data) {
  const FileBytes file(path);
  const bool named = names != nullptr && names_labels(file.text());
  std::vector<float> weights = named ? read_named(file.text(), {path, *names, data})
                                     : parse_weights(file.text(), path, labels, data, "labels");
  if (std::ranges::all_of(weights, [](float weight) { return weight == 0; }))
    fail_input("{}: all weights are 0; give some labels one", path);
  if (const float largest = std::ranges::max(weights); largest > kMaxWeight)
    fail_input("{}: the weight {} is above {}; give smaller ones", path, largest, kMaxWeight);
  return weights;
}

// weight[l] = n[l]^power / mean, n the frequency, mean over the (sample, label) `pairs`: their weights
// average 1.
std::vector<float> power_weights(std::span<const std::uint32_t> frequencies,
                                 std::span<const std::uint32_t> pairs, double power) {
  const auto raised = [&](std::size_t label) {
    return std::pow(double(std::max(frequencies[label], 1u)), power);
  };
  double sum = 0.0, all = 0.0;
  for (std::size_t label = 0; label < pairs.size(); ++label) {
    sum += pairs[label] * raised(label);
    all += pairs[label];
  }
  std::vector<float> weights(frequencies.size());
  for (std::size_t label = 0; label < weights.size(); ++label)
    weights[label] = static_cast<float>(raised(label) * all / sum);
  return weights;
}

}  // namespace slide
