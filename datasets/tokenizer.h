// Splits UTF-8 text into tokens and lists its features: word n-grams and character n-grams, each by a 64-bit
// hash that is the same on every machine. Two features of the same hash would be one; among a hundred million
// that has a chance of 1 in 3,000.
//
// Tokens are brought into Unicode's composed form (NFC), without ignorable code points such as soft hyphens,
// and case-folded if wanted. A byte that is no UTF-8 separates words; between blanks it becomes U+FFFD.
// A Tokenizer is scratch memory, one for each thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/text_options.h"

namespace slide {

// The feature that a token is by itself, which is composed and folded as it is.
std::uint64_t hash_of_token(std::string_view token);

class Tokenizer {
 public:
  explicit Tokenizer(const TextOptions& options) : options_(options) {}

  // Takes in one sample's text, forgetting the one before.
  void run(std::string_view text);

  std::size_t tokens() const { return tokens_.size(); }
  std::string_view token(std::size_t i) const {
    return std::string_view(text_).substr(tokens_[i].begin, tokens_[i].bytes);
  }

  // Every occurrence of a feature; never 0.
  std::span<const std::uint64_t> features() const { return features_; }
  // What features()[i] is, for people: `word`, `two words`, or `~ord>` for a character n-gram, where < and >
  // stand for the ends of the word. At most kMaxNameBytes long.
  std::string name(std::size_t i) const;

  static constexpr std::size_t kMaxNameBytes = 1000;
  // Character n-grams are of this much of a word, which bounds the memory that a word takes; longer words
  // lack the mark of their end.
  static constexpr std::size_t kMaxWordBytes = 10'000;

 private:
  struct Token {
    std::size_t begin, bytes;  // in text_
    std::uint64_t hash;
  };
  // Where a feature comes from: `count` tokens from `token`, or, with characters, bytes of a marked token.
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
