// Tests of labelled text: its two forms, learning, and the resulting rows.
#include <gtest/gtest.h>

#include <cmath>

#include "datasets/cache.h"
#include "datasets/formats/detect.h"
#include "datasets/reader.h"
#include "datasets/rows/read_report.h"
#include "datasets/text/labelled_text.h"
#include "datasets/text/text_model.h"
#include "datasets/text_learner.h"
#include "engine/base/rng.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

using Strings = std::vector<std::string>;
using Model = std::shared_ptr<const TextModel>;

constexpr std::size_t kTiny = 5;  // bytes per chunk: one line each

TextOptions simple() {
  TextOptions options;
  options.word_ngrams = 1;
  options.min_count = 1;
  options.weighting = Weighting::kCounts;
  return options;
}

Model learn(std::string_view text, const TextOptions& options = simple(), int threads = 1,
            std::size_t chunk_bytes = kDefaultChunkBytes) {
  return learn_text(TextSource{text, "t"}, options, threads, chunk_bytes);
}

Dataset read(std::string_view text, const Model& model, int threads = 1,
             std::size_t chunk_bytes = kDefaultChunkBytes, bool normalize = false) {
  MemorySink sink;
  ReadOptions options;
  options.threads = threads;
  options.normalize = normalize;
  const CsrSizes sizes = parse_labelled_text(TextSource{text, "t"}, *model, options, sink, chunk_bytes);
  return sink.take(sizes, options);
}

Strings features(const TextModel& model) {
  Strings names;
  for (std::uint32_t id = 0; id < model.feature_count(); ++id) names.push_back(model.feature_name(id));
  return names;
}

Strings labels(const TextModel& model) {
  Strings names;
  for (std::uint32_t id = 0; id < model.label_count(); ++id) names.emplace_back(model.label_name(id));
  return names;
}

// Rows with names in place of ids: `label,label|word:value word:value`, sorted by word.
Rows named(const Dataset& data, const TextModel& model) {
  Rows rows;
  for (std::size_t i = 0; i < data.size(); ++i) {
    Strings words;
    for (std::size_t j = 0; j < data.features(i).ids.size(); ++j) {
      words.push_back(
          fmt::format("{}:{}", model.feature_name(data.features(i).ids[j]), data.features(i).values[j]));
    }
    std::sort(words.begin(), words.end());
    Strings names;
    for (const std::uint32_t label : data.labels(i)) names.emplace_back(model.label_name(label));
    std::sort(names.begin(), names.end());
    rows.push_back(fmt::format("{}|{}", fmt::join(names, ","), fmt::join(words, " ")));
  }
  return rows;
}

Rows round_trip(std::string_view text, const TextOptions& options = simple()) {
  const Model model = learn(text, options);
  return named(read(text, model), *model);
}

TEST(TextForms, FastText) {
  EXPECT_EQ(round_trip("__label__a __label__b one two\n__label__b two two\r\n"),
            (Rows{"a,b|one:1 two:1", "b|two:2"}));
  EXPECT_EQ(round_trip("__label__a one __label__b two __label__a"), Rows{"a,b|one:1 two:1"})
      << "labels anywhere";
  EXPECT_EQ(round_trip("__label__a one\n\n  \nno label\n__label__a\n"),
            (Rows{"a|one:1", "|label:1 no:1", "a|"}));
  EXPECT_EQ(round_trip("__label__a x__label__b\n"), Rows{"a|x__label__b:1"}) << "inside a word it is text";
  EXPECT_EQ(round_trip("__label__ü,x y\n"), Rows{"ü,x|y:1"}) << "names may hold commas";
}

TEST(TextForms, Tables) {
  EXPECT_EQ(round_trip("a,b\tone two\nb\ttwo\ttwo\n"), (Rows{"a,b|one:1 two:1", "b|two:2"}));
  EXPECT_EQ(round_trip("deep learning , b,b\tone\n\tnone\n"), (Rows{"b,deep learning|one:1", "|none:1"}));
  EXPECT_EQ(round_trip("a\t\nb\tx\n"), (Rows{"a|", "b|x:1"}));
}

TEST(TextForms, ByteOrderMarkIsNoText) {
  EXPECT_EQ(round_trip("\xef\xbb\xbf"
                       "a\tx\nb\ty\n"),
            (Rows{"a|x:1", "b|y:1"}));
  EXPECT_EQ(round_trip("\xef\xbb\xbf"
                       "__label__a x\n"),
            Rows{"a|x:1"});
}

TEST(TextForms, AreFoundFromTheContent) {
  const auto format = [](std::string_view text) { return detect_format(text).value_or(DataFormat::kAuto); };
  EXPECT_EQ(format("\n __label__a x\n"), DataFormat::kText);
  EXPECT_EQ(format("a,b\tx: y\n"), DataFormat::kText);
  EXPECT_EQ(format("10\tat 10:30 or later\n"), DataFormat::kText);
  EXPECT_EQ(format("3,4\t1:2 7:0.5\n"), DataFormat::kLibsvm);
  EXPECT_EQ(format("\t1:2\n"), DataFormat::kLibsvm);
  EXPECT_EQ(format("# a\tcomment\n+1 1:2\n"), DataFormat::kLibsvm);
  EXPECT_EQ(format("2\t3\t4\n"), DataFormat::kXmc);
  EXPECT_EQ(format("plain words\n"), DataFormat::kAuto);
  EXPECT_EQ(format("a river __label__b\n"), DataFormat::kText);
  EXPECT_EQ(format("f(): a river __label__b\n"), DataFormat::kText);
  EXPECT_EQ(format("ci: a river\nbirds __label__b\n"), DataFormat::kText);
  EXPECT_EQ(format("ci: a river\nbirds __label__ x__label__b\n"), DataFormat::kAuto);
  EXPECT_EQ(format("1 x:1\n"), DataFormat::kLibsvm);
  EXPECT_TRUE(looks_like_features("1,2 3:0.5 4:1e-3"));
  EXPECT_TRUE(looks_like_features(" 3:0.5"));
  EXPECT_FALSE(looks_like_features("1,2"));
  EXPECT_FALSE(looks_like_features("at 10:30"));
  EXPECT_FALSE(looks_like_features("1 3:0.5 x"));
}

TEST(TextForms, PrefixedLabelsStandAnywhere) {
  EXPECT_EQ(find_text_form("a river __label__b\n"), TextForm::kFastText);
  EXPECT_EQ(find_text_form("a river\n\nbirds __label__b\n"), TextForm::kFastText);
  EXPECT_EQ(find_text_form("a river\t__label__b\nbirds\t__label__c\n"), TextForm::kFastText);
  EXPECT_EQ(find_text_form("nlp\tthe word __label__b\nart\tbirds\n"), TextForm::kTabs);
  EXPECT_EQ(find_text_form("a river\nbirds\n"), std::nullopt);
  const std::string far = "a river\n" + std::string(100'000, 'x') + "\nbirds __label__b\n";
  EXPECT_EQ(find_text_form(far), std::nullopt) << "only first lines are looked at";
  EXPECT_EQ(learn(far, simple())->label_count(), 1U) << "but all where the text is known to be one";
  LabelledLine parts;
  split_plain("a river __label__b", TextForm::kTabs, parts);
  EXPECT_EQ(trimmed(parts.text), "a river");
  split_plain("b\ta river __label__b", TextForm::kTabs, parts);
  EXPECT_EQ(parts.text, "a river __label__b");
}

TEST(TextForms, ProseWithColonsIsNoFeatures) {
  for (const char* prose : {"ci: fix a test", "f(): x", "at 10:30 we go", "1 a word: here"})
    EXPECT_TRUE(is_prose_with_colon(prose)) << prose;
  for (const char* features : {"1 x:1", "1 7:nan 3:1", "1,2 3:x", "3 4 5:1", "1 qid:3 2:1", " 3:0.5"})
    EXPECT_FALSE(is_prose_with_colon(features)) << features;
}

TEST(TextForms, FaultsNameLineAndColumn) {
  const auto fault = [](std::string_view text, std::size_t chunk = kDefaultChunkBytes) {
    return input_error([&] { learn(text, simple(), 2, chunk); });
  };
  EXPECT_EQ(fault("__label__a x\n\n__label__b __label__ y\n"),
            "t:3:12: a label without a name; write __label__NAME");
  EXPECT_EQ(fault("a\tx\nb x\n"), "t:2:4: no TAB between labels and text; write LABEL,LABEL<TAB>TEXT");
  EXPECT_EQ(fault("a\tx\nb,,c\tx\n"), "t:2:3: a label without a name; write LABEL,LABEL<TAB>TEXT");
  EXPECT_EQ(fault("a\tx\nb, \tx\nc\n", kTiny), "t:2:3: a label without a name; write LABEL,LABEL<TAB>TEXT");
  const std::string control =
      "a label with a line break, TAB or other control character in its name; write it without";
  EXPECT_EQ(fault("a\tx\nb, c\x1b[2J\tx\n"), "t:2:4: " + control);
  EXPECT_EQ(fault("__label__a x\n__label__b __label__c\x7f y\n"), "t:2:21: " + control);
  EXPECT_TRUE(contains(fault("plain\n"), "t:1:1: no labelled text"));
  EXPECT_TRUE(contains(fault("__label__a\n__label__b\n"), "lower text.min_count"));
  EXPECT_TRUE(contains(fault("\tx\n"), "lower text.min_label_count"));
  const Model model = learn("a\tx\n");
  EXPECT_EQ(input_error([&] { read("a\tx\nb x\n", model); }),
            "t:2:4: no TAB between labels and text; write LABEL,LABEL<TAB>TEXT");
  EXPECT_TRUE(contains(input_error([&] { read(" \n\n", model); }), "t:1:1: the file is empty"));
}

TEST(TextModel, OrdersByFrequency) {
  const Model model = learn("__label__x a b c\n__label__y a b\n__label__y a\n");
  EXPECT_EQ(features(*model), (Strings{"a", "b", "c"}));
  EXPECT_EQ(labels(*model), (Strings{"y", "x"}));
  EXPECT_EQ(model->label_id("x"), 1U);
  EXPECT_EQ(model->label_id("z"), std::nullopt);
  EXPECT_EQ(model->samples(), 3U);
}

TEST(TextModel, CountsSamplesNotOccurrences) {
  TextOptions options = simple();
  options.min_count = 2;
  EXPECT_EQ(features(*learn("__label__x a a b\n__label__x b\n", options)), Strings{"b"});
}

TEST(TextModel, RareLabelsAreLeftOut) {
  TextOptions options = simple();
  options.min_label_count = 2;
  EXPECT_EQ(round_trip("__label__x __label__r a\n__label__x a\n__label__q a\n", options),
            (Rows{"x|a:1", "x|a:1", "|a:1"}));
  EXPECT_EQ(round_trip("__label__x __label__x a\n__label__y a\n__label__y a", options),
            (Rows{"|a:1", "y|a:1", "y|a:1"}))
      << "a label named twice in a sample counts once";
}

TEST(TextModel, UnknownWordsAndLabelsAreLeftOut) {
  const Model model = learn("__label__x a b\n");
  EXPECT_EQ(named(read("__label__x __label__new a c\n__label__new c\n", model), *model),
            (Rows{"x|a:1", "|"}));
  EXPECT_EQ(named(read("x,new\ta c\n", model), *model), Rows{"x|a:1"}) << "the other form";
}

TEST(TextModel, MostFrequentFeatures) {
  TextOptions options = simple();
  options.max_features = 2;
  EXPECT_EQ(features(*learn("__label__x a b c\n__label__y a b\n__label__y a\n", options)),
            (Strings{"a", "b"}));
}

TEST(TextModel, RareFeaturesShareBuckets) {
  TextOptions options = simple();
  options.min_count = 2;
  options.hash_buckets = 1;
  const std::string text = "__label__x a b c\n__label__y a\n";
  EXPECT_EQ(round_trip(text, options), (Rows{"x|#0:2 a:1", "y|a:1"}));
  const Model model = learn(text, options);
  EXPECT_EQ(named(read("__label__x new\n", model), *model), Rows{"x|#0:1"}) << "also what was never seen";
  options.hash_buckets = 1000;
  EXPECT_EQ(learn(text, options)->feature_count(), 1001U);
}

TEST(TextModel, TfIdf) {
  TextOptions options = simple();
  options.weighting = Weighting::kTfIdf;
  const Model model = learn("__label__x a a b\n__label__x a\n__label__x c\n", options);
  const Dataset data = read("__label__x a a b\n", model);
  const auto idf = [](double with) { return static_cast<float>(1 + std::log(4.0 / (1 + with))); };
  ASSERT_EQ(data.features(0).ids.size(), 2U);
  EXPECT_FLOAT_EQ(data.features(0).values[0], idf(2) * static_cast<float>(1 + std::log(2.0)));
  EXPECT_FLOAT_EQ(data.features(0).values[1], idf(1));
  const Dataset scaled = read("__label__x a a b\n", model, 1, kDefaultChunkBytes, true);
  const auto values = scaled.features(0).values;
  EXPECT_NEAR(values[0] * values[0] + values[1] * values[1], 1, 1e-6);
}

TEST(TextModel, BytesRoundTrip) {
  TextOptions options;
  options.min_count = 1;
  options.hash_buckets = 3;
  options.char_ngrams_max = 4;
  const std::string text = "__label__x one two\n__label__ÿ zwei größe\n";
  const Model model = learn(text, options);
  const std::string bytes = model->to_bytes();
  const Model again = TextModel::from_bytes(bytes, options, "m");
  EXPECT_EQ(again->to_bytes(), bytes);
  EXPECT_EQ(again->digest(), model->digest());
  EXPECT_EQ(show(read(text, again)), show(read(text, model)));
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    ASSERT_TRUE(contains(input_error([&] { TextModel::from_bytes(bytes.substr(0, cut), options, "m"); }),
                         "m: the vocabulary is damaged"))
        << cut;
  }
  EXPECT_NE(input_error([&] { TextModel::from_bytes(bytes + '\0', options, "m"); }), "");
  options.hash_buckets = 4;
  EXPECT_NE(input_error([&] { TextModel::from_bytes(bytes, options, "m"); }), "") << "other options";
}

TEST(TextModel, DigestTellsOptionsAndTextApart) {
  const Model model = learn("__label__x a b\n");
  EXPECT_EQ(learn("__label__x a b\n")->digest(), model->digest());
  EXPECT_NE(learn("__label__x a c\n")->digest(), model->digest());
  TextOptions options = simple();
  options.lowercase = false;
  EXPECT_NE(learn("__label__x a b\n", options)->digest(), model->digest());
}

std::string random_text(std::uint64_t seed, TextForm form) {
  Rng rng(seed, Purpose::kTest);
  std::string text;
  for (int line = 0; line < 200; ++line) {
    const std::uint32_t labels = 1 + rng.below(3), words = rng.below(20);
    for (std::uint32_t i = 0; i < labels; ++i) {
      if (form == TextForm::kFastText) {
        fmt::format_to(std::back_inserter(text), "__label__L{} ", rng.below(30));
      } else {
        fmt::format_to(std::back_inserter(text), "{}L{}", i > 0 ? "," : "", rng.below(30));
      }
    }
    if (form == TextForm::kTabs) text += '\t';
    for (std::uint32_t i = 0; i < words; ++i) {
      fmt::format_to(std::back_inserter(text), "{}ö{} ", rng.below(5) == 0 ? "É" : "w", rng.below(40));
    }
    if (rng.below(10) == 0) text += "\r";
    text += rng.below(10) == 0 ? "\n\n" : "\n";
  }
  return text;
}

TEST(TextParallel, NeitherThreadsNorChunksMatter) {
  TextOptions options;
  options.char_ngrams_max = 3;
  options.hash_buckets = 17;
  for (const TextForm form : {TextForm::kFastText, TextForm::kTabs}) {
    const std::string text = random_text(3, form);
    const Model model = learn(text, options, 1);
    const Rows rows = show(read(text, model));
    for (const int threads : {2, 5}) {
      for (const std::size_t chunk : {std::size_t{1}, std::size_t{100}, kDefaultChunkBytes}) {
        const Model other = learn(text, options, threads, chunk);
        ASSERT_EQ(other->to_bytes(), model->to_bytes());
        ASSERT_EQ(show(read(text, other, threads, chunk)), rows);
      }
    }
  }
}

TEST(TextPlain, EveryLineIsASample) {
  const Model model = learn("__label__x a b\n__label__y b\n");
  const auto plain = [&](const Model& with, std::string_view text) {
    return named(parse_plain_text(text, *with, false, 2), *with);
  };
  EXPECT_EQ(plain(model, "a\n\nb b\r\nnone\n"), (Rows{"|a:1", "|", "|b:2", "|"}));
  EXPECT_EQ(plain(model, "__label__x a\nb\ta"), (Rows{"x|a:1", "|a:1 b:1"}));
  const Model table = learn("x\ta b\ny\tb\n");
  EXPECT_EQ(plain(table, "y\ta\na\n__label__x b\n"), (Rows{"y|a:1", "|a:1", "x|b:1"}));
  EXPECT_TRUE(plain(model, "").empty());
}

// Words that a line of the form has as labels are none of a text in memory; a TAB is part of it.
TEST(TextPlain, TextsInMemoryLeaveOutWordsOfLabels) {
  TextOptions pairs = simple();
  pairs.word_ngrams = 2;
  const std::string prefixed = "__label__x a b\n__label__y b\n";
  const Model model = learn(prefixed, pairs), table = learn("x\ta b\ny\tb\n", pairs);
  const auto texts = [](const Model& with, std::vector<std::string_view> all) {
    return named(parse_texts({all, {}, {}, {}}, *with, false, 2), *with);
  };
  const std::vector<std::string_view> asked = {"a __label__q b", "__label__a", "__label__x a"};
  EXPECT_EQ(texts(model, asked), (Rows{"|a b:1 a:1 b:1", "|", "|a:1"}));
  EXPECT_EQ(texts(table, {"y\ta", "__label__a b"}), (Rows{"|a:1", "|b:1"}));
  const std::vector<std::uint64_t> ends = {0, 1, 2};
  const std::vector<std::uint32_t> ids = {0, 1};
  const std::vector<std::string_view> learnt = {"__label__x a b", "__label__y b"}, names = {"x", "y"};
  EXPECT_EQ(learn_texts({learnt, ends, ids, names}, LabelIds::kByFrequency, pairs, 2)->to_bytes(),
            learn(prefixed, pairs)->to_bytes());
}

TEST(TextReader, ReadsFilesWithTheVocabularyOnly) {
  const TemporaryFolder folder;
  const std::string text = "__label__x a b\n__label__y b\n";
  const std::string path = folder.write("t.txt", text), packed = folder.write("t.gz", gzip(text));
  EXPECT_TRUE(
      contains(input_error([&] { read_dataset(path); }), "t.txt: this is text, but there is no vocabulary"));
  ReadOptions options;
  options.normalize = false;
  options.text = learn_text_file(path, {.threads = 1}, simple());
  ASSERT_NE(options.text, nullptr);
  const Dataset data = read_dataset(path, options);
  EXPECT_EQ(data.feature_count(), 2U);
  EXPECT_EQ(data.label_count(), 2U);
  EXPECT_EQ(named(data, *options.text), (Rows{"x|a:1 b:1", "y|b:1"}));
  EXPECT_EQ(show(read_dataset(packed, options)), show(data));
  EXPECT_EQ(learn_text_file(packed, {.threads = 1}, simple())->to_bytes(), options.text->to_bytes());
  EXPECT_EQ(learn_text_file(folder.write("f.txt", "1 1:2\n"), {.threads = 1}, simple()), nullptr);
  EXPECT_EQ(learn_text_file(folder.path("missing"), {.threads = 1}, simple()), nullptr);
}

TEST(TextReader, CacheKeepsWhatWasUnknown) {
  const TemporaryFolder folder;
  const std::string known = folder.write("known.txt", "x\ta b\ny\tb\n");
  const std::string path = folder.write("t.txt", "x,z\ta c c\nw\td\n");
  ReadOptions options;
  options.text = learn_text_file(known, {.threads = 1}, simple(), true);
  for (const CacheOutcome outcome : {CacheOutcome::kWritten, CacheOutcome::kUsed}) {
    ReadReport report;
    options.report = &report;
    EXPECT_EQ(read_dataset_cached(path, options).outcome, outcome);
    EXPECT_EQ(report.unknown_features, 3U);
    EXPECT_EQ(report.unknown_labels, 2U);
  }
  ReadReport report;
  options.report = &report;
  read_dataset_to_disk(path, options, folder.path("rows"));
  EXPECT_EQ(report.unknown_features, 3U);
  EXPECT_EQ(report.unknown_labels, 2U);
}

TEST(TextReader, CacheIsForOneVocabulary) {
  const TemporaryFolder folder;
  const std::string path = folder.write("t.txt", random_text(5, TextForm::kTabs));
  ReadOptions options;
  options.text = learn_text_file(path, {.threads = 2}, simple(), true);
  const Rows rows = show(read_dataset(path, options));
  EXPECT_EQ(read_dataset_cached(path, options).outcome, CacheOutcome::kWritten);
  const CachedDataset again = read_dataset_cached(path, options);
  EXPECT_EQ(again.outcome, CacheOutcome::kUsed);
  EXPECT_EQ(show(again.data), rows);
  TextOptions other = simple();
  other.word_ngrams = 2;
  options.text = learn_text_file(path, {.threads = 2}, other, true);
  EXPECT_EQ(read_dataset_cached(path, options).outcome, CacheOutcome::kWritten);
}

}  // namespace
}  // namespace slide
