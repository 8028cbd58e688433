// Tests of data.label_text in runs: labels without samples are learnt; resumed, incremental and search runs;
// refusals.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/model/model_file.h"
#include "engine/run/continue_training.h"
#include "engine/run/run_data.h"
#include "engine/run/training_run.h"
#include "engine/run/tuning.h"
#include "engine/wide/linear_term.h"
#include "tests/datasets/test_files.h"
#include "tests/run/file_bytes.h"

namespace slide {
namespace {

class RunLabelTexts : public ::testing::Test {
 protected:
  RunLabelTexts() {
    std::string samples = "48 6 3\n", text;
    for (int i = 0; i < 48; ++i) {
      samples += fmt::format("{} {}:1 {}:0.5\n", i % 3, i % 4, 4 + i % 2);
      text += fmt::format("tag{}\tviolin{} {}\n", i % 3, i % 3, i % 7);
    }
    folder_.write("data.txt", samples);
    folder_.write("data.tsv", text);
    folder_.write("t.tsv", "tag0\tviolin0\ntag9\tballet shoes\n");
    folder_.write("f.txt", "4 8 0\n 0:1\n 1:1\n 2:1\n 7:1\n");
  }
  Config config(const std::string& data, const std::string& texts, std::vector<std::string> more = {}) const {
    more.insert(more.end(),
                {"data.train=" + folder_.path(data), "text.min_count=1", "train.epochs=3", "train.threads=1",
                 "train.batch_size=16", "train.block_size=16", "layer.0.size=6"});
    if (!texts.empty()) more.push_back("data.label_text=" + (texts == "names" ? texts : folder_.path(texts)));
    return resolve_defaults(more);
  }
  std::string refusal(const std::string& data, const std::string& texts,
                      std::vector<std::string> more = {}) const {
    return input_error([&] { read_run_data(config(data, texts, std::move(more)), 1); });
  }
  std::string model_of(const Config& config, const std::string& out) const {
    TrainingRun(config, folder_.path(out)).train({});
    return read_file(folder_.path(out + "/model.slide"));
  }
  const TemporaryFolder folder_;
};

TEST_F(RunLabelTexts, BringLabelsWithoutSamples) {
  const RunData text = read_run_data(config("data.tsv", "t.tsv"), 2);
  EXPECT_EQ(text.train.samples(), 48U);
  EXPECT_EQ(text.train.label_texts(), 2U);
  EXPECT_EQ(text.train.label_count(), 4U);
  EXPECT_EQ(text.notes.back(),
            "label text  " + folder_.path("t.tsv") + ": 2 of 4 labels have one, 1 of them no sample");
  const RunData features = read_run_data(config("data.txt", "f.txt"), 2);
  EXPECT_EQ(features.train.label_texts(), 4U);
  EXPECT_EQ(features.train.label_count(), 4U);
  EXPECT_EQ(features.train.feature_count(), 8U);
  EXPECT_EQ(read_run_data(config("data.tsv", "names"), 2).train.label_texts(), 3U);
  TrainingRun(config("data.tsv", "t.tsv"), folder_.path("run")).train({});
  const Model model = load_model(folder_.path("run"));
  EXPECT_EQ(model.shape.samples, 48U);
  EXPECT_EQ(model.shape.label_frequencies, (std::vector<std::uint32_t>{16, 16, 16, 0}));
}

TEST_F(RunLabelTexts, AreCachedWithTheirWords) {
  const std::vector<std::string> cached = {"data.cache=true"};
  const std::string plain = model_of(config("data.tsv", "t.tsv"), "plain");
  for (const char* again : {"first", "second"}) {
    Config with = config("data.tsv", "t.tsv", cached);
    TrainingRun(with, folder_.path(again)).train({});
    EXPECT_EQ(load_model(folder_.path(again)).text->digest(),
              load_model(folder_.path("plain")).text->digest());
  }
  EXPECT_EQ(read_run_data(config("data.tsv", "", cached), 1).train.label_count(), 3U);
}

TEST_F(RunLabelTexts, AreKeptWhenAStoppedRunResumes) {
  for (const auto& [data, texts] :
       {std::pair("data.tsv", "t.tsv"), {"data.tsv", "names"}, {"data.txt", "f.txt"}}) {
    const Config used = config(data, texts, {"data.validation=0.2", "data.label_text_weight=0.5"});
    const std::string whole = model_of(used, "whole");
    {
      RunObserver observer;
      observer.step = [](const StepReport& report) { return report.step != 4; };
      observer.validation = [](std::size_t held_out, std::size_t left, const char*) {
        EXPECT_EQ(held_out + left, 48U);
      };
      EXPECT_TRUE(TrainingRun(used, folder_.path("cut")).train(observer).stopped);
    }
    EXPECT_FALSE(TrainingRun::resume(folder_.path("cut"), 3).train({}).stopped);
    EXPECT_TRUE(read_file(folder_.path("cut/model.slide")) == whole) << texts;
  }
  RunObserver observer;
  observer.step = [](const StepReport& report) { return report.step != 4; };
  TrainingRun(config("data.txt", "f.txt"), folder_.path("other")).train(observer);
  folder_.write("f.txt", "4 8 0\n 0:1\n 1:1\n 2:1\n 6:1\n");
  EXPECT_TRUE(contains(input_error([&] { TrainingRun::resume(folder_.path("other"), {}).train({}); }),
                       "the data are not those of the run"));
}

TEST_F(RunLabelTexts, AreOfNewLabelsTooInIncrementalTraining) {
  const Config begun = config("data.tsv", "t.tsv");
  TrainingRun(begun, folder_.path("begun")).train({});
  const Config base = continued_config(begun, folder_.path("begun"));
  EXPECT_EQ(base.data.label_text, "");
  folder_.write("more.tsv", "tag1\tviolin1 3\ntag7\tdrum\n");
  folder_.write("more_t.tsv", "tag8\tharp strings\ntag7\tdrum\n");
  const Config further = resolve_over(base, {},
                                      {"data.train=" + folder_.path("more.tsv"), "text.min_count=1",
                                       "data.label_text=" + folder_.path("more_t.tsv")});
  TrainingRun(further, folder_.path("further")).train({});
  const Model model = load_model(folder_.path("further"));
  EXPECT_EQ(model.shape.labels, 6U);
  EXPECT_TRUE(model.text->label_id("tag8"));
  EXPECT_EQ(model.shape.samples, 50U);
  EXPECT_EQ(model.shape.label_frequencies[*model.text->label_id("tag8")], 0U);
  EXPECT_EQ(model.unseen_runs.size(), 6U);
}

// Incremental training with a sample of tag1 only, and texts of existing labels.
TEST_F(RunLabelTexts, OfOldLabelsWithoutNewSamplesCountAndKeepThem) {
  const Config begun = config("data.tsv", "", {"data.idf_power=0.5"});
  TrainingRun(begun, folder_.path("begun")).train({});
  folder_.write("more.tsv", "tag1\tviolin1 3\n");
  std::string texts = "tag0\tballet shoes\n";
  for (int i = 0; i < 400; ++i) texts += "tag2\tballet steps\n";
  folder_.write("more_t.tsv", texts);
  const Config further =
      resolve_over(continued_config(begun, folder_.path("begun")), {},
                   {"data.train=" + folder_.path("more.tsv"), "text.min_count=1", "train.expire_labels=1",
                    "data.label_text=" + folder_.path("more_t.tsv")});
  TrainingRun(further, folder_.path("further")).train({});
  const Model before = load_model(folder_.path("begun"));
  const Model model = load_model(folder_.path("further"));  // with numeric feature factors
  const auto tag0 = model.text->label_id("tag0");
  ASSERT_TRUE(tag0 && model.text->label_id("tag2"));
  const LinearTerm::Storage& wide = linear_term_of(model.network.output())->storage();
  int added = 0;
  for (std::uint64_t at = wide.offsets[*tag0]; at < wide.offsets[*tag0 + 1]; ++at)
    added += wide.features[at] >= before.shape.features && wide.weights[at] != 0.0f ? 1 : 0;
  EXPECT_EQ(added, 3);  // two words and the cross
}

TEST_F(RunLabelTexts, GoWithASearch) {
  TuneOptions options;
  options.trials = 2;
  const TuneResult found = tune_to_file(config("data.txt", "f.txt"), options, folder_.path("tuned.toml"), {});
  EXPECT_EQ(found.config.data.label_text, folder_.path("f.txt"));
  EXPECT_LT(found.train_samples, 48U);
}

TEST_F(RunLabelTexts, AreRefusedWithWhatIsWrong) {
  EXPECT_TRUE(
      contains(refusal("data.txt", "names"), "the labels of " + folder_.path("data.txt") + " are numbers"));
  EXPECT_TRUE(contains(refusal("data.tsv", "none.tsv"), "none.tsv: no such file"));
  folder_.write("short.txt", "2 8 0\n 0:1\n 1:1\n");
  EXPECT_TRUE(contains(refusal("data.txt", "short.txt"), "short.txt: it has 2 rows, but "));
  folder_.write("words.tsv", "tag0\t...\n");
  EXPECT_TRUE(contains(refusal("data.tsv", "words.tsv"), "no text of a label has a feature that is known"));
  folder_.write("log.txt", "ann tea jam\nbob tea jam bread\ncid bread jam\ndora tea bread jam\n");
  EXPECT_TRUE(contains(refusal("log.txt", "names", {"data.kind=interactions"}),
                       "items of interactions are known by"));
}

}  // namespace
}  // namespace slide
