// What turns text into the samples of one model: the vocabulary with its weights, the names of the labels,
// and the form its training text had. Learnt from a training file, kept in the model file.
//
// That of a log of interactions has items for features and labels, the same under each number
// (interactions.h).
//
// Feature ids: the vocabulary by falling frequency (ties by hash), then text.hash_buckets buckets for what is
// not in it. Label ids: by falling frequency, ties by name. Neither depends on the number of threads.
//
// Immutable once made, then safe to use from any thread. Not copyable: shared by pointer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "datasets/labelled_line.h"
#include "datasets/row_parser.h"
#include "datasets/text_options.h"
#include "datasets/tokenizer.h"

namespace slide {

// Strings in one piece of memory.
class NameList {
 public:
  void add(std::string_view name);
  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

// The parts of a TextModel. Sizes must fit: as many hashes as feature names, and a weight for each of them
// and each bucket.
struct TextModelParts {
  TextForm form = TextForm::kFastText;
  std::uint64_t samples = 0;  // of the training text
  std::vector<std::uint64_t> hashes;
  std::vector<float> weights;
  NameList feature_names, label_names;
};

class TextModel {
 public:
  TextModel(const TextOptions& options, TextModelParts parts);
  TextModel(const TextModel&) = delete;
  TextModel& operator=(const TextModel&) = delete;

  const TextOptions& options() const { return options_; }
  TextForm form() const { return parts_.form; }
  std::uint64_t samples() const { return parts_.samples; }
  std::uint32_t feature_count() const { return static_cast<std::uint32_t>(parts_.weights.size()); }
  std::uint32_t label_count() const { return static_cast<std::uint32_t>(parts_.label_names.size()); }
  // Features with a name; the others are buckets.
  std::uint32_t vocabulary() const { return static_cast<std::uint32_t>(parts_.hashes.size()); }
  const TextModelParts& parts() const { return parts_; }
  // The feature of the vocabulary with this hash.
  std::optional<std::uint32_t> known_feature(std::uint64_t hash) const;
  // `#3` for bucket 3.
  std::string feature_name(std::uint32_t id) const;
  std::string_view label_name(std::uint32_t id) const { return parts_.label_names[id]; }
  std::optional<std::uint32_t> label_id(std::string_view name) const;

  // The features of a text without labels, of a model of items those that it names, each once; `row.labels`
  // stays as it is. `tokenizer` was made with options().
  void features_of(std::string_view text, bool normalize, Tokenizer& tokenizer, Row& row) const;

  // Another number for other options, vocabulary, weights or labels, as far as 64 bits can tell.
  std::uint64_t digest() const;

  // All but the options, as bytes; little-endian.
  std::string to_bytes() const;
  // Throws InputError that starts with `origin` when the bytes are none of a model with these options.
  static std::shared_ptr<const TextModel> from_bytes(std::string_view bytes, const TextOptions& options,
                                                     const std::string& origin);

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  void items_of(std::string_view text, bool normalize, Row& row) const;
  std::uint32_t feature_id(std::uint64_t hash) const;

  TextOptions options_;
  TextModelParts parts_;
  std::vector<std::uint32_t> slots_;  // open addressing by hash: ids, or kNone
  std::unordered_map<std::string_view, std::uint32_t> label_ids_;
};

}  // namespace slide
