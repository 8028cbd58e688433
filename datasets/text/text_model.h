// Text model: converts text to samples of one network. Holds the vocabulary with feature weights, the label
// names, and the form of the training text. Learnt from a training file, stored in the model file.
//
// For interaction logs, items are both features and labels, with equal ids (interactions.h).
//
// Feature ids: the vocabulary by decreasing frequency (ties by hash), then text.hash_buckets buckets for
// features outside the vocabulary. Label ids: by decreasing frequency, ties by name, or as the caller numbers
// them (LabelIds). Incremental learning adds new features behind the known ones, before the buckets, and new
// labels behind the known ones. Independent of the number of threads.
//
// Immutable, safe from any thread. Not copyable: share it by pointer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "datasets/rows/labelled_line.h"
#include "datasets/rows/row_parser.h"
#include "datasets/rows/text_options.h"
#include "datasets/text/tokenizer.h"

namespace slide {

// Strings in contiguous memory.
class NameList {
 public:
  void add(std::string_view name);
  std::size_t size() const { return ends_.size(); }
  // All names, one after the other.
  std::string_view all() const { return text_; }
  bool has_empty() const;
  // Whether a name has this character.
  bool has(char c) const { return text_.find(c) != std::string::npos; }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

// Content of a TextModel. Invariant: one name per hash, and one weight per hash and bucket.
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
  // Number of features with a name; the others are buckets.
  std::uint32_t vocabulary() const { return static_cast<std::uint32_t>(parts_.hashes.size()); }
  const TextModelParts& parts() const { return parts_; }
  // The vocabulary feature with this hash.
  std::optional<std::uint32_t> known_feature(std::uint64_t hash) const;
  // `#3` for bucket 3.
  std::string feature_name(std::uint32_t id) const;
  std::string_view label_name(std::uint32_t id) const { return parts_.label_names[id]; }
  std::optional<std::uint32_t> label_id(std::string_view name) const;

  // Features of a text without labels (for an item model: its named items, once each); leaves `row.labels`
  // unchanged. `tokenizer` is constructed with options().
  void features_of(std::string_view text, bool normalize, Tokenizer& tokenizer, Row& row) const;

  // 64-bit digest of options, vocabulary, weights and labels.
  std::uint64_t digest() const;

  // Serialised content without options; little-endian.
  std::string to_bytes() const;
  // Inverse of to_bytes(). Throws InputError that starts with `origin` where the bytes are not a model with
  // these options.
  static std::shared_ptr<const TextModel> from_bytes(std::string_view bytes, const TextOptions& options,
                                                     const std::string& origin);

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  bool fill_slots();
  void items_of(std::string_view text, bool normalize, Row& row) const;
  std::uint32_t feature_id(std::uint64_t hash) const;

  TextOptions options_;
  TextModelParts parts_;
  std::vector<std::uint32_t> slots_;  // hash table with open addressing: ids, or kNone
  std::unordered_map<std::string_view, std::uint32_t> label_ids_;
  bool all_differ_ = true;  // hashes, and names of labels
};

}  // namespace slide
