#include "engine/run/threshold_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "datasets/rows/file_bytes.h"
#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/base/number_text.h"
#include "engine/inference/curve.h"

namespace slide {

namespace {

using ThresholdJson = nlohmann::ordered_json;

constexpr const char* kThresholdExample =
    R"({"threshold":0.3,"labels":[{"id":7,"label":"music","threshold":0.4}]})";

[[noreturn]] void refuse_thresholds(const std::string& path) {
  fail_input("{}: is no file of thresholds; write an object as {}, as slide evaluate --save-thresholds does",
             path, kThresholdExample);
}

double threshold_in(const ThresholdJson& object, const std::string& path) {
  const auto found = object.find("threshold");
  if (found == object.end() || !found->is_number()) refuse_thresholds(path);
  return found->get<double>();
}

// The label of an entry by id, name or both.
ThresholdLabel label_in(const ThresholdJson& object, const std::string& path) {
  ThresholdLabel label;
  if (const auto id = object.find("id"); id != object.end()) {
    if (!id->is_number_unsigned() || id->get<std::uint64_t>() > UINT32_MAX) refuse_thresholds(path);
    label.id = id->get<std::uint32_t>();
  }
  if (const auto name = object.find("label"); name != object.end()) {
    if (!name->is_string()) refuse_thresholds(path);
    label.name = name->get<std::string>();
  }
  if (!label.id && !label.name) refuse_thresholds(path);
  return label;
}

std::string shown_label(const ThresholdLabel& label) {
  return label.name ? "'" + shown_part(*label.name) + "'" : std::to_string(*label.id);
}

void check_probability(double threshold, const std::string& where) {
  if (const std::string fault = probability_fault(threshold); !fault.empty())
    fail_input("{}: {}", where, fault);
}

// check_probability() for a threshold in a file, which may also be above all probabilities
// (best_threshold()).
void check_file_probability(double threshold, const std::string& where) {
  if (!(threshold > 1 && static_cast<float>(threshold) <= threshold_above(1.0F)))
    check_probability(threshold, where);
}

}  // namespace

std::optional<double> threshold_number(std::string_view text) {
  const std::optional<double> value = number_of<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

void write_thresholds(const std::string& path, const Thresholds& thresholds,
                      const std::function<std::string_view(std::uint32_t)>& name) {
  if (!std::isfinite(thresholds.all()))
    fail_input("{}: there are no scores, and so no threshold to write", path);
  ThresholdJson json = {{"threshold", thresholds.all()}};
  for (const LabelThreshold& one : thresholds.own()) {
    ThresholdJson label = {{"id", one.label}};
    if (name) label["label"] = name(one.label);
    label["threshold"] = one.threshold;
    json["labels"].push_back(std::move(label));
  }
  write_file(path, json.dump(-1, ' ', false, ThresholdJson::error_handler_t::replace) + '\n');
}

// Reads {"threshold": T, "labels": [{"id" or "label", "threshold"}, ...]}; find(label) returns its id, or
// nullopt to skip it.
Thresholds read_thresholds(const std::string& path, const FindLabel& find) {
  const FileBytes file(path);
  if (foreign_json_fault(file.text())) refuse_thresholds(path);
  const ThresholdJson json = ThresholdJson::parse(file.text(), nullptr, false);
  if (!json.is_object()) refuse_thresholds(path);
  const double all = threshold_in(json, path);
  std::vector<LabelThreshold> own;
  if (const auto labels = json.find("labels"); labels != json.end()) {
    if (!labels->is_array()) refuse_thresholds(path);
    for (const ThresholdJson& one : *labels) {
      if (!one.is_object()) refuse_thresholds(path);
      const auto label = find(label_in(one, path));
      if (label) own.push_back({*label, threshold_in(one, path)});
    }
  }
  std::ranges::sort(own, {}, &LabelThreshold::label);
  const auto twice = std::ranges::adjacent_find(own, {}, &LabelThreshold::label);
  if (twice != own.end()) fail_input("{}: label {} is there twice; give it once", path, twice->label);
  return Thresholds(all, std::move(own));
}

// One threshold for all labels, or a file of thresholds whose labels the model must have.
Thresholds thresholds_of_model(const std::string& text, const Model& model) {
  if (const auto number = threshold_number(text)) {
    check_probability(*number, "--threshold");
    return Thresholds(*number);
  }
  const auto find = [&](const ThresholdLabel& label) {
    std::optional<std::uint32_t> found = label.id;
    if (model.text != nullptr) found = label.name ? model.text->label_id(*label.name) : std::nullopt;
    if (!found || *found >= model.network.labels())
      fail_input("{}: the model has no label {}; take scores of this model", text, shown_label(label));
    return found;
  };
  Thresholds thresholds = read_thresholds(text, find);
  check_file_probability(thresholds.all(), text);
  for (const LabelThreshold& one : thresholds.own()) check_file_probability(one.threshold, text);
  return thresholds;
}

}  // namespace slide
