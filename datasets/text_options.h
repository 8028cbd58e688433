// How text becomes features: the [text] section of a configuration. Plain values.
#pragma once

#include <cstdint>

namespace slide {

enum class TokenKind {
  kWords,   // runs of letters, digits, marks and `_` of any script; ideographs and kana stand alone
  kBlanks,  // whatever stands between blanks, as fastText splits
};

enum class Weighting {
  kTfIdf,   // (1 + ln count) * (1 + ln((1 + samples) / (1 + samples with the feature)))
  kCounts,  // occurrences in the sample
};

struct TextOptions {
  TokenKind tokens = TokenKind::kWords;
  bool lowercase = true;          // Unicode case folding
  std::uint32_t word_ngrams = 2;  // up to so many words in a row are a feature
  std::uint32_t char_ngrams_min =
      3;  // code points in the shortest and the longest character n-gram of a word
  std::uint32_t char_ngrams_max = 0;  // 0: no character n-grams
  std::uint32_t min_count = 2;        // training samples a feature must occur in
  std::uint32_t min_label_count = 1;  // training samples a label must occur in
  Weighting weighting = Weighting::kTfIdf;
  std::uint32_t max_features = 0;  // the most frequent ones; 0: all
  std::uint32_t hash_buckets = 0;  // features for all that is too rare, by hash; 0: it is left out
};

}  // namespace slide
