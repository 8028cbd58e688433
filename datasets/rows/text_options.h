// Conversion of text to features: the [text] section of a configuration. Plain values.
#pragma once

#include <cstdint>

namespace slide {

enum class TokenKind {
  kWords,   // runs of letters, digits, marks and `_` of any script; each ideograph and kana is a token
  kBlanks,  // maximal runs without blanks, as fastText splits
};

enum class Weighting {
  kTfIdf,   // (1 + ln count) * (1 + ln((1 + samples) / (1 + samples with the feature)))
  kCounts,  // occurrences in the sample
};

struct TextOptions {
  TokenKind tokens = TokenKind::kWords;
  bool lowercase = true;              // Unicode case folding
  std::uint32_t word_ngrams = 2;      // max words per word n-gram
  std::uint32_t char_ngrams_min = 3;  // min and max code points of character n-grams of a word
  std::uint32_t char_ngrams_max = 0;  // 0: no character n-grams
  std::uint32_t min_count = 2;        // min training samples of a feature
  std::uint32_t min_label_count = 1;  // min training samples of a label
  Weighting weighting = Weighting::kTfIdf;
  std::uint32_t max_features = 0;  // the most frequent ones; 0: all
  std::uint32_t hash_buckets = 0;  // hash buckets for features outside the vocabulary; 0: ignored
};

}  // namespace slide
