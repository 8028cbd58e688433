#include "engine/serve/request_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "engine/base/byte_io.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/base/number_text.h"

namespace slide::serve {

namespace {

using Json = RequestSamples::Json;

// A value for messages. Lists and objects are only named, since they may be of any size.
std::string shown(const Json& value) {
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  if (value.is_string()) return fmt::format("'{}'", shown_part(value.get_ref<const std::string&>()));
  return value.dump();
}

std::uint64_t id_of(const std::string& key) {
  const auto id = number_of<std::uint64_t>(key);
  if (!id) fail_input("'{}' is no feature id; ids are whole numbers", shown_part(key));
  return *id;
}

std::uint64_t id_of(const Json& id) {
  if (!id.is_number_unsigned()) fail_input("{} is no feature id; ids are whole numbers", shown(id));
  return id.get<std::uint64_t>();
}

}  // namespace

// Finds the parts of an input: a string is a text, an object has them by key.
void RequestSamples::add(const Json& input) {
  if (input.is_string()) return add(Parts{nullptr, &input, nullptr, nullptr});
  if (!input.is_object() || input.empty())
    fail_input("an input must be a string, {{\"text\": ...}}, {{\"features\": ...}} or {{\"user\": ...}}");
  Parts parts;
  for (const auto& [key, value] : input.items()) {
    const Json** part = key == "text"       ? &parts.text
                        : key == "features" ? &parts.features
                        : key == "user"     ? &parts.user
                        : is_dense_key(key) ? &parts.dense
                                            : nullptr;
    if (part == nullptr)
      fail_input("unknown key '{}'; an input has \"text\", {}\"features\" or \"user\"", shown_part(key),
                 dense_key_.empty() ? "" : fmt::format("\"{}\", ", dense_key_));
    if (*part != nullptr) fail_input("'{}' is given twice; give it once", key);
    *part = &value;
  }
  add(parts);
}

// Appends one row. Beside a text, "features" are dense columns where their column has this name.
void RequestSamples::add(Parts parts) {
  if (dense_key_ == "features" && parts.text != nullptr) std::swap(parts.features, parts.dense);
  if (parts.text != nullptr && parts.features != nullptr) fail_input("give one of \"text\" and \"features\"");
  names_.emplace_back();
  if (parts.user != nullptr) take_user(*parts.user);
  if (parts.text != nullptr) {
    add_dense(parts.dense);
    return add_text(*parts.text);
  }
  if (parts.dense != nullptr) fail_input("'{}' stands beside \"text\"; give that, too", dense_key_);
  if (parts.features != nullptr) return add_features(*parts.features);
  space_.row.ids.clear();
  space_.row.values.clear();
  append(0);
}

void RequestSamples::take_user(const Json& user) {
  if (!of_users()) fail_input("user: the model was not trained on interactions; leave it out");
  if (!user.is_string() && !user.is_number_integer())
    fail_input("user must be a name, as a string or a whole number");
  names_.back() = user.is_string() ? user.get<std::string>() : user.dump();
}

// Appends the features of a text. With a user, its log items are added before the row is scaled.
void RequestSamples::add_text(const Json& value) {
  const std::string* text = value.get_ptr<const std::string*>();
  if (value.is_array())
    fail_input("text must be a string; of several texts give \"inputs\", a list, in its place");
  if (text == nullptr) fail_input("text must be a string");
  if (model_.text == nullptr)
    fail_input("the model was trained on features, not on text; send {{\"features\": {{\"ID\": VALUE}}}}");
  Row& row = space_.row;
  split_plain(*text, model_.text->form(), space_.parts);
  const bool scaled = model_.config.data.normalize && !names_.back();
  model_.text->features_of(space_.parts.text, scaled, space_.tokenizer, row);
  unknown_ += row.unknown;
  append(row.feature_count);
}

// Takes {"ID": value}, a list of [id, value] pairs, or for dense features alone a list of their columns.
void RequestSamples::add_features(const Json& value) {
  pairs_.clear();
  if (value.is_array() && is_dense()) {
    add_columns(value);
  } else if (value.is_object()) {
    for (const auto& [key, number] : value.items()) add_pair(id_of(key), number);
  } else if (value.is_array()) {
    for (const Json& entry : value) add_entry(entry);
  } else {
    fail_input("features must be an object as {{\"12\": 0.5}} or a list of [id, value] pairs");
  }
  merge_pairs();
}

Dataset RequestSamples::take() {
  const std::size_t rows = arrays_.feature_offsets.size() - 1;
  arrays_.label_offsets.assign(rows + 1, 0);
  Dataset data(std::move(arrays_), sparse(), static_cast<std::uint32_t>(model_.network.labels()));
  if (dense_.empty() || dense_.size() != rows * columns()) return data;
  const auto kept = std::make_shared<const std::vector<float>>(std::move(dense_));
  const DenseMatrix matrix{bytes_of(*kept), DenseType::kFloat32, rows, columns()};
  return data.with_dense({kept, matrix, model_.config.data.normalize, 1, "features"});
}

std::string RequestSamples::dense_key_of(const Model& model) {
  if (model.text == nullptr || model.shape.dense == 0) return {};
  static constexpr std::array<std::string_view, 10> kOthers = {
      "text", "user", "inputs", "k", "threshold", "scores", "inference", "keep_known", "explain", "none"};
  const std::string& name = model.config.data.dense;
  return name.empty() || std::ranges::find(kOthers, name) != kOthers.end() ? "vector" : name;
}

// The dense columns beside a text.
void RequestSamples::add_dense(const Json* value) {
  if (columns() == 0) return;
  if (value == nullptr || !value->is_array() || value->size() != columns())
    fail_input("give \"{}\" beside \"text\", a list of {} numbers", dense_key_, columns());
  for (const Json& entry : *value) {
    const float number = entry.is_number() ? static_cast<float>(entry.get<double>()) : NAN;
    if (!std::isfinite(number)) fail_input("\"{}\" is a list of numbers that fit a float", dense_key_);
    dense_.push_back(number);
  }
}

// A list of numbers, one for each dense column.
void RequestSamples::add_columns(const Json& value) {
  if (value.size() != columns())
    fail_input("features are {} numbers, but the model has {} dense columns", value.size(), columns());
  for (std::size_t c = 0; c < value.size(); ++c) add_pair(first_id() + c, value[c]);
}

// Moves the dense columns, which have the largest ids, from the workspace's row to dense_.
void RequestSamples::take_dense() {
  if (columns() == 0) return;
  Row& row = space_.row;
  const std::size_t first = dense_.size();
  dense_.resize(first + columns());
  for (; !row.ids.empty() && row.ids.back() >= sparse(); row.ids.pop_back(), row.values.pop_back())
    dense_[first + row.ids.back() - sparse()] = row.values.back();
}

void RequestSamples::add_entry(const Json& entry) {
  static const Json one = 1;
  if (!entry.is_array()) return add_pair(id_of(entry), one);
  if (entry.size() != 2) fail_input("a feature in a list must be an id or an [id, value] pair");
  add_pair(id_of(entry[0]), entry[1]);
}

// Counts an id that is too large as unknown; it is an error where there are dense columns.
void RequestSamples::add_pair(std::uint64_t id, const Json& value) {
  const std::uint64_t first = first_id(), end = first + model_.network.sample_features();
  const bool left_out = id >= end && columns() == 0;
  if (id < first || (id >= end && !left_out))
    fail_input("feature {}: the model knows the ids {} to {}", id, first, end - 1);
  const float number = value.is_number() ? static_cast<float>(value.get<double>()) : NAN;
  if (!std::isfinite(number)) fail_input("feature {}: the value must be a number that fits a float", id);
  if (left_out)
    ++unknown_;
  else
    pairs_.emplace_back(static_cast<std::uint32_t>(id - first), number);
}

// Appends a row from pairs_: ids ascending, values of equal ids added up. A user's row is scaled only after
// its items of the log are added.
void RequestSamples::merge_pairs() {
  std::stable_sort(pairs_.begin(), pairs_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Row& row = space_.row;
  row.ids.clear();
  row.values.clear();
  for (const auto& [id, value] : pairs_) {
    if (!row.ids.empty() && row.ids.back() == id) {
      row.values.back() += value;
      if (!std::isfinite(row.values.back()))
        fail_input("feature {}: its values add up to no float", id + first_id());
    } else {
      row.ids.push_back(id);
      row.values.push_back(value);
    }
  }
  take_dense();
  if (model_.config.data.normalize && !names_.back())
    scale_to_unit_length(row.values.data(), row.values.size());
  append(row.ids.size());
}

// Adds to the `count` items in the workspace's row, which are not scaled, those that the user has in the log.
std::size_t RequestSamples::with_items_of_user(std::size_t count) {
  const std::string& user = *names_.back();
  if (users_ == nullptr && count == 0)
    fail_input(
        "user '{}': the server has no log of what users have; start it with --known FILE, or send "
        "items as \"text\"",
        shown_part(user));
  Row& row = space_.row;
  items_.clear();
  for (std::size_t i = 0; i < count; ++i) items_.emplace_back(row.ids[i], row.values[i]);
  if (users_ != nullptr) users_->add_items_of(user, items_);
  join_items(items_);
  row.ids.clear();
  row.values.clear();
  for (const auto& [id, weight] : items_) {
    row.ids.push_back(id);
    row.values.push_back(weight);
  }
  if (model_.config.data.normalize) scale_to_unit_length(row.values.data(), row.values.size());
  without_items_ += items_.empty() ? 1 : 0;
  return items_.size();
}

// The sample in the workspace's row.
void RequestSamples::append(std::size_t count) {
  if (names_.back())
    count = with_items_of_user(count);
  else
    without_features_ += count == 0 && columns() == 0 ? 1 : 0;
  const Row& row = space_.row;
  const auto entries = static_cast<std::ptrdiff_t>(count);
  arrays_.feature_ids.insert(arrays_.feature_ids.end(), row.ids.begin(), row.ids.begin() + entries);
  arrays_.feature_values.insert(arrays_.feature_values.end(), row.values.begin(),
                                row.values.begin() + entries);
  arrays_.feature_offsets.push_back(arrays_.feature_ids.size());
}

}  // namespace slide::serve
