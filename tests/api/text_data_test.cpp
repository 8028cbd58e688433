// Tests of texts in memory: equality with models from files, names, refused input.
#include <gtest/gtest.h>
#include <slide/slide.h>

#include <algorithm>
#include <vector>

#include "tests/api/samples.h"
#include "tests/cli/program.h"
#include "tests/datasets/test_files.h"

namespace slide::api {
namespace {

// Texts with labels 0 to 3: label 2 is the most frequent, label 0 never occurs.
struct Texts {
  std::vector<std::string> texts;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> labels;
  std::vector<std::string> names{"none", "b", "often", "a"};

  explicit Texts(int count) {
    for (int i = 0; i < count; ++i) {
      const int label = i % 5 == 0 ? 1 : i % 5 == 1 ? 3 : 2;
      texts.push_back("word" + std::to_string(label) + " and x" + std::to_string(i % 7));
      labels.push_back(label);
      if (i % 10 == 0) labels.push_back(2);
      offsets.push_back(static_cast<std::int64_t>(labels.size()));
    }
  }
  std::string file() const {
    std::string lines;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      for (auto j = static_cast<std::size_t>(offsets[i]); j < static_cast<std::size_t>(offsets[i + 1]); ++j)
        lines += "__label__" + names[static_cast<std::size_t>(labels[j])] + " ";
      lines += texts[i] + "\n";
    }
    return lines;
  }
  std::vector<std::string_view> views() const { return {texts.begin(), texts.end()}; }
  std::vector<std::string_view> name_views() const { return {names.begin(), names.end()}; }
  CsrMatrix matrix() const { return {offsets, labels, nullptr, names.size()}; }
  Data learnt(const Config& config, bool keep_labels = false) const {
    return Data::learn_texts(views(), matrix(), name_views(), config, keep_labels);
  }
};

Config text_config(const std::string& train = "") {
  return Config({"data.train=" + train, "train.epochs=2", "train.threads=2", "layer.0.size=16",
                 "layer.1.uniform=2", "text.min_count=1"});
}

TEST(ApiText, WarningsOfFilesAreHandedOut) {
  const TemporaryFolder folder;
  const std::string path = folder.write("t.tsv", "a;b\tred ball\nb\tblue ball\n");
  const std::vector<std::string> warnings = Data::read(path, text_config()).warnings();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(contains(warnings.front(), "t.tsv:1: "));
  std::vector<std::string> heard;
  Callbacks callbacks;
  callbacks.warning = [&](const std::string& warning) { heard.push_back(warning); };
  const Model model = train(text_config(path), callbacks);
  EXPECT_EQ(heard, warnings);
  EXPECT_EQ(Data::read(path, model).warnings(), warnings);
}

TEST(ApiText, GivesTheModelOfTheFile) {
  const TemporaryFolder folder;
  const Texts texts(600);  // more than one chunk
  const std::string path = folder.write("train.txt", texts.file());
  const Config config = text_config(path);
  train(config).save(folder.path("file.slide"));
  train(config, texts.learnt(config)).save(folder.path("memory.slide"));
  EXPECT_EQ(read_file(folder.path("file.slide")), read_file(folder.path("memory.slide")));
}

TEST(ApiText, LabelsGetTheOrderOfAFileOrKeepTheirOwn) {
  const Texts texts(50);
  const Data as_of_a_file = texts.learnt(text_config()), kept = texts.learnt(text_config(), true);
  ASSERT_EQ(as_of_a_file.labels(), 3U);
  EXPECT_EQ(as_of_a_file.label_name(0), "often");
  EXPECT_EQ(as_of_a_file.label_name(1), "a");
  EXPECT_EQ(as_of_a_file.label_name(2), "b");
  ASSERT_EQ(kept.labels(), 4U);
  EXPECT_EQ(kept.label_name(0), "none");
  EXPECT_EQ(kept.label_name(3), "a");
  EXPECT_TRUE(kept.is_text());
  std::vector<std::uint64_t> offsets(51);
  std::vector<std::uint32_t> labels(kept.label_entries());
  kept.copy_labels(offsets.data(), labels.data());
  EXPECT_EQ(labels[0], 1U);
  EXPECT_EQ(labels[1], 2U);
  EXPECT_EQ(labels[2], 3U);
}

TEST(ApiText, IsPredictedEvaluatedAndContinued) {
  const Texts texts(200);
  const Config config({"train.epochs=20", "layer.0.size=16", "layer.1.uniform=4", "text.min_count=1"});
  const Model model = train(config, texts.learnt(config, true));
  const Data same = Data::from_texts(texts.views(), model, texts.matrix());
  EXPECT_EQ(same.label_entries(), texts.labels.size());
  EXPECT_GT(evaluate(model, same, {1}).at("p_at_1"), 0.99);
  const Model further = continue_training(model, same);
  EXPECT_GT(further.steps(), model.steps());
  const Predictions best = Predictor(further).predict(Data::from_texts({"word3", ""}, further));
  EXPECT_EQ(model.label_name(best.labels[0]), "a");
}

TEST(ApiText, WhatIsWrongIsRefused) {
  const Config config = text_config();
  const std::vector<std::string_view> texts = {"one text", "another text"};
  const std::vector<std::int64_t> offsets = {0, 1, 2}, one_row = {0, 2};
  const std::vector<std::int32_t> labels = {0, 1};
  const auto learn = [&](const CsrMatrix& matrix, const std::vector<std::string_view>& names) {
    return input_error([&] { Data::learn_texts(texts, matrix, names, config); });
  };
  EXPECT_EQ(learn({offsets, labels, nullptr, 2}, {"a", "b"}), "");
  EXPECT_EQ(learn({one_row, labels, nullptr, 2}, {"a", "b"}),
            "2 texts, but 1 rows of labels; they must be of the same samples");
  EXPECT_EQ(learn({offsets, labels, nullptr, 2}, {"a"}), "labels: there are 2 of them, but 1 names");
  EXPECT_EQ(learn({offsets, labels, nullptr, 2}, {"a", ""}),
            "labels: the name '' of label 1 is empty or has a line break, TAB or other control character; "
            "give another");
  EXPECT_EQ(learn({offsets, labels, nullptr, 2}, {"a\nb", "b"}),
            "labels: the name 'a b' of label 0 is empty or has a line break, TAB or other control character; "
            "give another");
  const Config rare({"text.min_count=9"});
  EXPECT_EQ(input_error([&] {
              Data::learn_texts(texts, {offsets, labels, nullptr, 2}, {"a", "b"}, rare);
            }),
            "texts: no word occurs in 9 samples or more; lower text.min_count or check the data");
}

// New words and new labels join a copy; what was known keeps its ids.
TEST(ApiText, MoreTextsBringLabelsAndWords) {
  const Texts few(120);
  const Model model = train(text_config(), few.learnt(text_config(), true));
  const std::uint32_t words = model.features();
  const std::vector<std::string_view> texts(30, "quokka and x1");
  std::vector<std::int64_t> offsets;
  for (int i = 0; i <= 30; ++i) offsets.push_back(i);
  const std::vector<std::int32_t> labels(30, 4);
  std::vector<std::string_view> names = few.name_views();
  names.push_back("marsupial");
  const Data more = Data::learn_more_texts(texts, {offsets, labels, nullptr, 5}, names, model);
  const Model further = continue_training(model, more, 10);
  EXPECT_EQ(further.labels(), 5U);
  EXPECT_EQ(further.label_name(4), "marsupial");
  EXPECT_EQ(further.label_name(1), "b");
  EXPECT_EQ(further.features(), words + 2) << "'quokka' and 'quokka and'";
  EXPECT_EQ(model.labels(), 4U) << "the first one stays as it is";
  PredictOptions best;
  best.k = 1;
  const std::vector<std::string_view> asked = {"quokka", "word1"};
  const Predictions found = Predictor(further, best).predict(Data::from_texts(asked, further));
  EXPECT_EQ(found.labels[0], 4U);
  EXPECT_EQ(found.labels[1], 1U);
  const Texts others(90);
  const Model other = train(text_config(), others.learnt(text_config(), true));
  EXPECT_EQ(input_error([&] { continue_training(other, more); }),
            "the data are text with words of its own; read it with the model to continue");
  std::swap(names[0], names[1]);
  EXPECT_TRUE(contains(input_error([&] {
                         Data::learn_more_texts(texts, {offsets, labels, nullptr, 5}, names, model);
                       }),
                       "the first 4 names must be those of the model"));
}

TEST(ApiText, TextsAreReadWithWhatOtherTextsTaught) {
  const Texts few(120);
  const Data learnt = few.learnt(text_config(), true);
  const Model model = train(text_config(), learnt);
  const Data by_data = Data::from_texts(few.views(), learnt, few.matrix());
  const Data by_model = Data::from_texts(few.views(), model, few.matrix());
  EXPECT_EQ(evaluate(model, by_data, {1, 3}), evaluate(model, by_model, {1, 3}));
  EXPECT_EQ(input_error([&] { Data::from_texts(few.views(), test::tiny_samples().data()); }),
            "the training data are features, not text; use from_csr()");
}

TEST(ApiText, TextsWithoutAKnownWordAreWarnedOf) {
  const Texts few(120);
  const Data learnt = few.learnt(text_config(), true);
  const Model model = train(text_config(), learnt);
  const auto warned = [&](const std::vector<std::string_view>& texts) {
    return Data::from_texts(texts, model).warnings();
  };
  EXPECT_EQ(warned({"qqq www"}),
            (std::vector<std::string>{"texts: 1 of 1 samples have no feature that the model knows; check "
                                      "that the data are those that the model is for"}));
  EXPECT_EQ(warned({"qqq", "", "__label__word1"}).size(), 1U);
  EXPECT_EQ(Data::from_texts({"qqq"}, learnt).warnings().size(), 1U);
  EXPECT_TRUE(warned({"", "word1", "qqq"}).empty()) << "no more than half, and the empty one says nothing";
}

// Arrays of the engine's own types, which other data use where they are.
TEST(ApiText, LabelsOfTextsToPredictAreCopied) {
  const Texts few(120);
  const Data learnt = few.learnt(text_config(), true);
  const Model model = train(text_config(), learnt);
  std::vector<std::uint64_t> offsets(few.offsets.begin(), few.offsets.end());
  std::vector<std::uint32_t> labels(few.labels.begin(), few.labels.end());
  const CsrMatrix matrix{offsets, labels, nullptr, few.names.size()};
  const std::vector<Data> taken = {Data::from_texts(few.views(), learnt, matrix),
                                   Data::from_texts(few.views(), model, matrix)};
  const std::vector<std::uint32_t> given = labels;
  const std::vector<std::uint64_t> ends = offsets;
  std::ranges::fill(labels, 9U);
  std::ranges::fill(offsets, 7U);
  for (const Data& data : taken) {
    std::vector<std::uint64_t> its_ends(ends.size());
    std::vector<std::uint32_t> its_labels(given.size());
    data.copy_labels(its_ends.data(), its_labels.data());
    EXPECT_EQ(its_ends, ends);
    EXPECT_EQ(its_labels, given);
  }
}

}  // namespace
}  // namespace slide::api
