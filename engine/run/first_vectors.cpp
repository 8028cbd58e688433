#include "engine/run/first_vectors.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "datasets/formats/dense_data.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/line_chunks.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/base/number_text.h"
#include "engine/crosses/feature_transform.h"
#include "engine/run/vectors.h"

namespace slide {

namespace {

constexpr std::string_view kBlanks = " \t";

std::size_t words_in(std::string_view rest) {
  std::size_t count = 0;
  while (!take_word(rest, kBlanks).empty()) ++count;
  return count;
}

// Maps names in a vector file to features.
class FeatureNames {
 public:
  FeatureNames(const TextModel* text, std::size_t features) : features_(features), named_(text != nullptr) {
    if (!named_) return;
    // of equal names, the most frequent feature wins
    for (std::uint32_t id = text->feature_count(); id-- > 0;)
      ids_.insert_or_assign(vector_name(text->feature_name(id)), id);
  }

  std::optional<std::uint32_t> id_of(std::string_view name) const {
    if (!named_) {
      const auto id = number_of<std::uint32_t>(name);
      return id && *id < features_ ? id : std::nullopt;
    }
    const auto found = ids_.find(std::string(name));
    if (found == ids_.end()) return {};
    return found->second;
  }
  const char* what() const { return named_ ? "word of the training text" : "number of a feature"; }

 private:
  std::size_t features_;
  bool named_;
  std::unordered_map<std::string, std::uint32_t> ids_;
};

// Sets rows of the first layer one by one.
class FirstRows {
 public:
  explicit FirstRows(Network& network) : network_(network), set_(network.features()) {
    if (!network.input()) {
      fail_input(
          "train.vectors: the first layer is stored by neuron, so features have no vectors there; it must be "
          "dense, a hidden one without hash tables");
    }
  }

  std::size_t width() const { return network_.input()->size(); }
  // Overwrites `vector` [width()].
  void set(std::uint32_t feature, std::span<float> vector) {
    if (!set_[feature]) ++count_;
    set_[feature] = true;
    const std::span<const float> factors = scale_of(network_).factors();
    if (feature < factors.size() && factors[feature] > 0)
      for (float& x : vector) x /= factors[feature];
    Parameters& weights = network_.input()->weights();
    const std::size_t row = feature - weights.first_in_file();
    if (row < weights.rows) weights.store_row(row, vector.data());
  }
  std::size_t count() const { return count_; }

 private:
  Network& network_;
  std::vector<bool> set_;
  std::size_t count_ = 0;
};

void check_width(const std::string& place, std::size_t numbers, std::size_t width) {
  if (numbers == width) return;
  if (numbers == 0)
    fail_input(
        "{}: a word without numbers behind it; give a word and its vector a line, as word2vec's text has",
        place);
  fail_input(
      "{}: a vector of {} numbers, but the first layer has {} neurons; set layer.0.size={}, or take other "
      "vectors",
      place, numbers, width, numbers);
}

void read_vector(const std::string& path, std::size_t line, std::string_view rest, std::span<float> vector) {
  check_width(fmt::format("{}:{}", path, line), words_in(rest), vector.size());
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const std::string_view word = take_word(rest, kBlanks);
    const auto number = number_of<float>(word);
    if (!number || !std::isfinite(*number))
      fail_input("{}:{}: number {}, '{}', is no finite number", path, line, i + 1, shown_part(word));
    vector[i] = *number;
  }
}

// Whether the name continues in `rest`: GloVe files have names with blanks, such as `at name@domain.com`.
bool is_longer_name(std::string_view rest, std::size_t width) {
  const std::size_t words = words_in(rest);
  return words > width && !number_of<float>(take_word(rest, kBlanks));
}

// Reads word2vec text, whose first line is "COUNT WIDTH", or GloVe text, which has no such line.
void set_by_name(const std::string& path, const FeatureNames& names, FirstRows& rows) {
  const FileBytes bytes(path);
  std::string_view text = bytes.text();
  std::vector<float> vector(rows.width());
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (is_blank_line(line) || (number == 1 && words_in(line) == 2)) continue;
    std::string_view rest = line;
    const auto feature = names.id_of(take_word(rest, kBlanks));
    if (!feature || is_longer_name(rest, rows.width())) continue;
    read_vector(path, number, rest, vector);
    rows.set(*feature, vector);
  }
  if (rows.count() == 0) {
    fail_input("{}: no line begins with a {}; a line is a name and the numbers of its vector", path,
               names.what());
  }
}

// Reads a matrix .npy, whose row i is the vector of feature i.
void set_by_number(const std::string& path, const TextModel* text, std::size_t features, FirstRows& rows) {
  if (text != nullptr) {
    fail_input(
        "{}: a matrix does not say which word a row is of; give vectors of words as text, a line of word "
        "and "
        "numbers each",
        path);
  }
  ReadOptions options;
  options.normalize = false;
  const DenseRows matrix = read_dense_rows(path, options);
  check_width(path, matrix.columns(), rows.width());
  if (matrix.size() > features) {
    fail_input("{}: {} rows, but the data have {} features; row i is the vector of feature i", path,
               matrix.size(), features);
  }
  std::vector<float> vector(rows.width());
  for (std::uint32_t i = 0; i < matrix.size(); ++i) {
    matrix.copy_row(i, vector.data());
    rows.set(i, vector);
  }
}

}  // namespace

std::size_t start_from_vectors(const std::string& path, const TextModel* text, Network& network) {
  FirstRows rows(network);
  if (dense_paths(path)) {
    set_by_number(path, text, network.sample_features(), rows);
  } else {
    set_by_name(path, FeatureNames(text, network.sample_features()), rows);
  }
  return rows.count();
}

}  // namespace slide
