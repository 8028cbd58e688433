// Tests of tokens, n-grams and their hashes, in all scripts and for invalid bytes.
#include "datasets/text/tokenizer.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "engine/base/rng.h"

namespace slide {
namespace {

using Strings = std::vector<std::string>;

TextOptions words_only() {
  TextOptions options;
  options.word_ngrams = 1;
  return options;
}

Strings tokens_of(std::string_view text, const TextOptions& options = words_only()) {
  Tokenizer tokenizer(options);
  tokenizer.run(text);
  Strings tokens;
  for (std::size_t i = 0; i < tokenizer.tokens(); ++i) tokens.emplace_back(tokenizer.token(i));
  return tokens;
}

Strings names_of(std::string_view text, const TextOptions& options) {
  Tokenizer tokenizer(options);
  tokenizer.run(text);
  Strings names;
  for (std::size_t i = 0; i < tokenizer.features().size(); ++i) names.push_back(tokenizer.name(i));
  return names;
}

std::vector<std::uint64_t> hashes_of(std::string_view text, const TextOptions& options) {
  Tokenizer tokenizer(options);
  tokenizer.run(text);
  return {tokenizer.features().begin(), tokenizer.features().end()};
}

TEST(Tokenizer, WordsInAscii) {
  EXPECT_EQ(tokens_of(""), Strings{});
  EXPECT_EQ(tokens_of(" \t.,; "), Strings{});
  EXPECT_EQ(tokens_of("The quick, brown_fox"), (Strings{"the", "quick", "brown_fox"}));
  EXPECT_EQ(tokens_of("C++ x86-64 e.g."), (Strings{"c", "x86", "64", "e", "g"}));
}

TEST(Tokenizer, WordsInOtherScripts) {
  EXPECT_EQ(tokens_of("École ÜBER straße"), (Strings{"école", "über", "strasse"}));
  EXPECT_EQ(tokens_of("Привет, МИР!"), (Strings{"привет", "мир"}));
  EXPECT_EQ(tokens_of("ΣΊΣΥΦΟΣ"), tokens_of("σίσυφος"));
  EXPECT_EQ(tokens_of("नमस्ते दुनिया"), (Strings{"नमस्ते", "दुनिया"})) << "marks belong to the word";
  EXPECT_EQ(tokens_of("日本語 text"), (Strings{"日", "本", "語", "text"}));
  EXPECT_EQ(tokens_of("v2の本"), (Strings{"v2", "の", "本"}));
  EXPECT_EQ(tokens_of("a—b…c“d”😀e"), (Strings{"a", "b", "c", "d", "e"}));
}

TEST(Tokenizer, CompositionDoesNotMatter) {
  EXPECT_EQ(tokens_of("cafe\xcc\x81"), tokens_of("caf\xc3\xa9")) << "combining accent";
  EXPECT_EQ(tokens_of("か\xe3\x82\x99"), tokens_of("が")) << "combining voiced mark";
  EXPECT_EQ(tokens_of("soft\xc2\xadhyphen"), Strings{"softhyphen"});
  EXPECT_EQ(tokens_of("\xc2\xad \xe2\x80\x8b"), Strings{}) << "ignorable alone";
}

TEST(Tokenizer, CaseCanStay) {
  TextOptions options = words_only();
  options.lowercase = false;
  EXPECT_EQ(tokens_of("École C", options), (Strings{"École", "C"}));
}

TEST(Tokenizer, Blanks) {
  TextOptions options = words_only();
  options.tokens = TokenKind::kBlanks;
  EXPECT_EQ(tokens_of(" C++  x86-64\te.g. ÉCOLE!\r", options), (Strings{"c++", "x86-64", "e.g.", "école!"}));
  EXPECT_EQ(tokens_of("a\xff"
                      "b \xe9",
                      options),
            (Strings{"a\xef\xbf\xbd"
                     "b",
                     "\xef\xbf\xbd"}));
}

TEST(Tokenizer, BytesThatAreNoTextSeparateWords) {
  EXPECT_EQ(tokens_of("caf\xe9 one"), (Strings{"caf", "one"}));
  EXPECT_EQ(tokens_of("a\xc3"), Strings{"a"}) << "cut off at the end";
  EXPECT_EQ(tokens_of("a\xed\xa0\x80"
                      "b"),
            (Strings{"a", "b"}))
      << "surrogate";
  EXPECT_EQ(tokens_of("a\xc0\x80"
                      "b"),
            (Strings{"a", "b"}))
      << "overlong";
  EXPECT_EQ(tokens_of(std::string_view("a\0b", 3)), (Strings{"a", "b"}));
}

TEST(Tokenizer, AnyBytesAreTaken) {
  TextOptions options;
  options.char_ngrams_max = 5;
  Rng rng(7, Purpose::kTest);
  for (int round = 0; round < 3000; ++round) {
    std::string text(rng.below(60), '\0');
    for (char& c : text) c = static_cast<char>(rng.below(3) == 0 ? 32 + rng.below(95) : rng.below(256));
    options.tokens = round % 2 == 0 ? TokenKind::kWords : TokenKind::kBlanks;
    Tokenizer tokenizer(options);
    tokenizer.run(text);
    for (std::size_t i = 0; i < tokenizer.features().size(); ++i) ASSERT_FALSE(tokenizer.name(i).empty());
    for (std::size_t i = 0; i < tokenizer.tokens(); ++i) ASSERT_FALSE(tokenizer.token(i).empty());
  }
}

TEST(Tokenizer, WordNgrams) {
  TextOptions options;
  options.word_ngrams = 3;
  EXPECT_EQ(names_of("a b c", options), (Strings{"a", "a b", "a b c", "b", "b c", "c"}));
  const auto hashes = hashes_of("a b c", options);
  EXPECT_EQ(std::set<std::uint64_t>(hashes.begin(), hashes.end()).size(), hashes.size());
  EXPECT_EQ(hashes_of("a, B", options), hashes_of("A b", options)) << "what stands between words is nothing";
  options.word_ngrams = 2;
  EXPECT_NE(hashes_of("a b", options)[1], hashes_of("b a", options)[1]) << "order matters";
}

TEST(Tokenizer, CharacterNgrams) {
  TextOptions options;
  options.word_ngrams = 0;
  options.char_ngrams_min = 2;
  options.char_ngrams_max = 3;
  EXPECT_EQ(names_of("ab", options), (Strings{"~<a", "~<ab", "~ab", "~ab>", "~b>"}));
  EXPECT_EQ(names_of("éà", options), (Strings{"~<é", "~<éà", "~éà", "~éà>", "~à>"})) << "of code points";
  options.char_ngrams_min = options.char_ngrams_max = 1;
  EXPECT_EQ(names_of("ab", options), (Strings{"~a", "~b"})) << "not the marks";
  options.word_ngrams = 1;
  const auto hashes = hashes_of("a", options);
  EXPECT_NE(hashes[0], hashes[1]) << "a word is not its only character";
}

// Models store hashes: they must be equal on every machine, forever.
TEST(Tokenizer, LongWordsHaveCharacterNgramsOfTheirHeadOnly) {
  TextOptions options = words_only();
  options.char_ngrams_min = options.char_ngrams_max = 3;
  const std::size_t most = Tokenizer::kMaxWordBytes;
  const auto ngrams = [&](const std::string& word) { return names_of(word, options).size() - 1; };
  EXPECT_EQ(ngrams(std::string(most, 'a')), most);
  EXPECT_EQ(names_of(std::string(most, 'a'), options).back(), "~aa>");
  EXPECT_EQ(ngrams(std::string(most + 1, 'a')), most - 1);
  EXPECT_EQ(names_of(std::string(most + 1, 'a'), options).back(), "~aaa");
  EXPECT_EQ(ngrams(std::string(10 * most, 'a')), most - 1);
  std::string word;
  while (word.size() <= most) word += "ạ";  // three bytes; most is not a multiple of it
  EXPECT_EQ(names_of(word, options).back(), "~ạạạ");
  EXPECT_EQ(ngrams(word), most / 3 - 1);
}

TEST(Tokenizer, HashesAreFixed) {
  TextOptions options;
  options.char_ngrams_min = options.char_ngrams_max = 3;
  const auto hashes = hashes_of("Große Datenmenge", options);
  ASSERT_EQ(hashes.size(), 3U + 6U + 10U);
  EXPECT_EQ(hashes[0], 8406416346052832482ULL);
  EXPECT_EQ(hashes[1], 1538681977329055723ULL);
  EXPECT_EQ(hashes[3], 7819980601916589809ULL);
}

TEST(Tokenizer, LongNamesAreCutBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 900; ++i) text += "é";
  const std::string name = names_of(text, words_only()).at(0);
  EXPECT_EQ(name.size(), Tokenizer::kMaxNameBytes);
  EXPECT_EQ(text.substr(0, name.size()), name);
}

}  // namespace
}  // namespace slide
