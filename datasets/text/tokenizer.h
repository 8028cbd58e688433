// Splits UTF-8 text into tokens and lists its features: word n-grams and character n-grams, each identified
// by a platform-independent 64-bit hash. A hash collision merges two features; its probability among a
// hundred million features is 1 in 3,000.
//
// Tokens are normalised to NFC, without ignorable code points such as soft hyphens, and optionally
// case-folded. An invalid byte separates words; between blanks it becomes U+FFFD. A Tokenizer is scratch
// memory, one per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/rows/text_options.h"

namespace slide {

// Hash of the feature of a single token, already normalised.
std::uint64_t hash_of_token(std::string_view token);

class Tokenizer {
 public:
  explicit Tokenizer(const TextOptions& options) : options_(options) {}

  // Tokenises one sample's text; drops the previous one.
  void run(std::string_view text);

  std::size_t tokens() const { return tokens_.size(); }
  std::string_view token(std::size_t i) const {
    return std::string_view(text_).substr(tokens_[i].begin, tokens_[i].bytes);
  }

  // Hashes of all feature occurrences; never 0.
  std::span<const std::uint64_t> features() const { return features_; }
  // Name of features()[i] for messages: `word`, `two words`, or `~ord>` for a character n-gram, where < and >
  // mark the ends of the word. At most kMaxNameBytes long.
  std::string name(std::size_t i) const;
  // Whether features()[i] is a single word.
  bool is_word(std::size_t i) const { return places_[i].count == 1 && !places_[i].characters; }

  static constexpr std::size_t kMaxNameBytes = 1000;
  // Character n-grams cover at most this prefix of a word, which bounds memory; longer words lack the end
  // mark.
  static constexpr std::size_t kMaxWordBytes = 10'000;

 private:
  struct Token {
    std::size_t begin, bytes;  // in text_
    std::uint64_t hash;
  };
  // Origin of a feature: `count` tokens from `token`, or with `characters` a range of bytes of a marked
  // token.
  struct Place {
    std::uint32_t token, count, begin;
    bool characters;
  };

  void split_words(std::string_view text);
  void split_blanks(std::string_view text);
  void add_token(std::string_view raw, bool ascii);
  void add_word_ngrams();
  void add_char_ngrams(std::size_t token);

  TextOptions options_;
  std::string text_;  // of all tokens
  std::vector<Token> tokens_;
  std::vector<std::uint64_t> features_;
  std::vector<Place> places_;
  std::string marked_;  // scratch: <token>
  std::vector<std::uint32_t> starts_;
};

}  // namespace slide
