// Tests of data.label_weights in runs: weights of 1 change nothing; new labels, resumed runs, refusals.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/model/model_file.h"
#include "engine/run/continue_training.h"
#include "engine/run/training_run.h"
#include "engine/run/tuning.h"
#include "tests/datasets/test_files.h"
#include "tests/run/file_bytes.h"

namespace slide {
namespace {

class RunLabelWeights : public ::testing::Test {
 protected:
  RunLabelWeights() {
    std::string samples = "48 6 4\n", text;
    for (int i = 0; i < 48; ++i) {
      samples += fmt::format("{}{} {}:1 {}:0.5\n", i % 3, i % 8 == 0 ? ",3" : "", i % 4, 4 + i % 2);
      text += fmt::format("tag{}\tviolin {}\n", i % 3, i % 7);
    }
    folder_.write("data.txt", samples);
    folder_.write("data.tsv", text);
    folder_.write("w.txt", "1\n2\n0.5\n4\n");
  }
  Config config(std::vector<std::string> more = {}, const std::string& data = "data.txt") const {
    more.insert(more.end(),
                {"data.train=" + folder_.path(data), "text.min_count=1", "train.epochs=3", "train.threads=1",
                 "train.batch_size=16", "train.block_size=16", "layer.0.size=6"});
    return resolve_defaults(more);
  }
  std::string key(const std::string& file) const { return "data.label_weights=" + folder_.path(file); }
  // The model file of such a run, with the configuration of a run without label weights.
  std::string model_of(const Config& config, const std::string& out) const {
    TrainingRun(config, folder_.path(out)).train({});
    Model model = load_model(folder_.path(out), LoadOptimizer::kYes);
    model.config.data.label_weights = {};
    const TrainedNetwork trained{model.network, model.neighbours ? &*model.neighbours : nullptr};
    save_model(folder_.path(out + ".slide"),
               {model.config, model.shape, trained, &*model.optimizer, model.steps, model.text.get()});
    return read_file(folder_.path(out + ".slide"));
  }

  const TemporaryFolder folder_;
};

TEST_F(RunLabelWeights, ThatAreAllOneLeaveTheModelFileAsItIs) {
  folder_.write("ones.txt", "1\n1\n1\n1\n");
  folder_.write("names.txt", "tag1\t1\n");
  for (const char* loss : {"loss.kind=sigmoid", "loss.kind=softmax"}) {
    const std::string plain = model_of(config({loss}), "plain");
    EXPECT_TRUE(plain == model_of(config({loss, key("ones.txt")}), "ones"));
    EXPECT_FALSE(plain == model_of(config({loss, key("w.txt")}), "other"));
    EXPECT_TRUE(model_of(config({loss}, "data.tsv"), "text") ==
                model_of(config({loss, key("names.txt")}, "data.tsv"), "names"));
  }
}

TEST_F(RunLabelWeights, AreKeptWhenAStoppedRunResumes) {
  for (const std::string& weights : {key("w.txt"), std::string("data.label_weights=-0.5")}) {
    TrainingRun(config({weights}), folder_.path("whole")).train({});
    {
      RunObserver observer;
      observer.step = [](const StepReport& report) { return report.step != 4; };
      EXPECT_TRUE(TrainingRun(config({weights}), folder_.path("cut")).train(observer).stopped);
    }
    EXPECT_FALSE(TrainingRun::resume(folder_.path("cut"), 2).train({}).stopped);
    EXPECT_TRUE(read_file(folder_.path("cut/model.slide")) == read_file(folder_.path("whole/model.slide")));
  }
  RunObserver observer;
  observer.step = [](const StepReport& report) { return report.step != 4; };
  TrainingRun(config({key("w.txt")}), folder_.path("other")).train(observer);
  folder_.write("w.txt", "1\n2\n0.5\n5\n");
  EXPECT_TRUE(contains(input_error([&] { TrainingRun::resume(folder_.path("other"), {}).train({}); }),
                       "the data are not those of the run"));
}

TEST_F(RunLabelWeights, AreOfNewLabelsTooInIncrementalTraining) {
  const Config begun = config({key("w.txt")});
  TrainingRun(begun, folder_.path("begun")).train({});
  folder_.write("more.txt", "2 6 3\n0 1:1\n2 2:1\n");
  const auto go_on = [&](const std::string& weights, const std::string& more) {
    const Config base = continued_config(begun, folder_.path("begun"));
    const Config further = resolve_over(base, {}, {"data.train=" + folder_.path(more), weights});
    TrainingRun(further, folder_.path("further")).train({});
    return read_file(folder_.path("further/model.slide"));
  };
  EXPECT_EQ(continued_config(begun, "model").data.label_weights.file, "");
  EXPECT_EQ(continued_config(config({"data.label_weights=-0.25"}), "model").data.label_weights.power, -0.25);
  EXPECT_NE(go_on(key("w.txt"), "more.txt"), go_on("data.label_weights=0", "more.txt"));  // four as before
  folder_.write("more.txt", "2 6 6\n0 1:1\n5 2:1\n");
  EXPECT_TRUE(contains(input_error([&] { go_on(key("w.txt"), "more.txt"); }),
                       "w.txt:4: the weights end here, but " + folder_.path("more.txt") + " has 6 labels"));
  folder_.write("v.txt", "1\n1\n1\n1\n1\n1\n");
  folder_.write("w.txt", "1\n1\n1\n1\n1\n7\n");
  EXPECT_NE(go_on(key("w.txt"), "more.txt"), go_on(key("v.txt"), "more.txt"));
  EXPECT_NE(go_on("data.label_weights=-0.5", "more.txt"), go_on("data.label_weights=0", "more.txt"));
}

TEST_F(RunLabelWeights, AreReadForItemsAndForASearch) {
  folder_.write("log.txt", "ann tea jam\nbob tea jam bread\ncid bread jam\ndora tea bread jam\n");
  folder_.write("items.txt", "tea\t3\n");
  const auto read = [&](const std::string& weights) {
    return read_run_data(config({"data.kind=interactions", weights}, "log.txt"), 1);
  };
  const RunData named = read(key("items.txt"));
  for (std::uint32_t item = 0; item < 3; ++item)
    EXPECT_EQ(named.train.label_weights()[item], named.text->label_name(item) == "tea" ? 3.0F : 1.0F);
  EXPECT_TRUE(contains(input_error([&] { read(key("w.txt")); }), "w.txt:4: a weight more than the 3 labels"));
  TrainingRun(config({"data.kind=interactions", "data.label_weights=-0.5"}, "log.txt"), folder_.path("items"))
      .train({});
  TuneOptions options;
  options.trials = 2;
  const TuneResult found = tune_to_file(config({key("w.txt")}), options, folder_.path("tuned.toml"), {});
  EXPECT_EQ(found.config.data.label_weights.file, folder_.path("w.txt"));
  folder_.write("w.txt", "1\n2\n");
  EXPECT_TRUE(contains(
      input_error([&] { tune_to_file(config({key("w.txt")}), options, folder_.path("tuned.toml"), {}); }),
      "w.txt:2: the weights end here"));
}

}  // namespace
}  // namespace slide
