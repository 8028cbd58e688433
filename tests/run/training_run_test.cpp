// Tests of a training run in its folder as a library: events and their order, stop and resumption.
#include "engine/run/training_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "engine/base/error.h"
#include "engine/config/parse.h"
#include "engine/run/model_use.h"
#include "engine/run/tuning.h"
#include "tests/run/file_bytes.h"

namespace slide {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = R"(
[data]
validation = 0.25
[train]
epochs = 3
batch_size = 16
block_size = 16
threads = 1
[optimizer]
learning_rate = 0.05
[loss]
kind = "softmax"
gradient_threshold = 0
[neighbours]
share = 0
[[layer]]
size = 6
[[layer]]
kind = "dense"
wide = false
)";

class TrainingRunTest : public FolderTest {
 protected:
  TrainingRunTest() {
    std::string samples = "48 6 4\n";
    for (int i = 0; i < 48; ++i) samples += fmt::format("{} {}:1 {}:0.5\n", i % 4, i % 4, 4 + i % 2);
    std::ofstream(folder_ / "data.txt") << samples;
    config_ = parse_config(kConfig, "here");
    config_.data.train = config_.data.test = (folder_ / "data.txt").string();
  }

  // Records the events; stops after step `last`.
  RunObserver noting(std::uint64_t last) {
    RunObserver observer;
    observer.data = [&](const RunData& data, double) { note("data {}", data.train.size()); };
    observer.validation = [&](std::size_t held_out, std::size_t left, const char*) {
      note("validation {} {}", held_out, left);
    };
    observer.start = [&](const TrainingStart& start) {
      note("start {} {} {}", start.weights, start.step_samples, start.threads);
    };
    observer.resumed = [&](std::uint64_t step, std::uint64_t total) { note("resumed {} {}", step, total); };
    observer.step = [&, last](const StepReport& report) { return report.step != last; };
    observer.epoch = [&](const EpochReport& report) { note("epoch {}", report.epoch); };
    observer.eval = [&](const EvalReport& report) { note(report.validation ? "validated" : "tested"); };
    observer.trained = [&] { note(fs::exists(folder_ / "out/model.slide") ? "saved" : "trained"); };
    return observer;
  }
  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    notes_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  void note(const char* text) { notes_.emplace_back(text); }

  Config config_;
  std::vector<std::string> notes_;
};

TEST_F(TrainingRunTest, ReportsInOrderAndSavesTheModel) {
  TrainingRun run(config_, folder_ / "out");
  const RunResult result = run.train(noting(0));
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.steps, 9U);  // 3 epochs of 36 samples
  EXPECT_EQ(result.total_steps, 9U);
  const std::vector<std::string> expected = {
      "data 48",   "validation 12 36", "start 60 16 1", "epoch 1",   "validated", "tested", "epoch 2",
      "validated", "tested",           "epoch 3",       "validated", "tested",    "trained"};
  EXPECT_EQ(notes_, expected);
  for (const std::string& file : {run.folder().model(), run.folder().best_model(), run.folder().log()})
    EXPECT_TRUE(fs::exists(file)) << file;
  EXPECT_FALSE(run.folder().has_checkpoint());
  EXPECT_TRUE(run.folder().is_finished());
}

TEST_F(TrainingRunTest, SaysThatDeterministicHasNoEffect) {
  EXPECT_TRUE(TrainingRun(config_, folder_ / "out").notes().empty());
  config_.train.deterministic = true;
  const TrainingRun run(config_, folder_ / "out");
  ASSERT_EQ(run.notes().size(), 1u);
  EXPECT_TRUE(contains(run.notes()[0], "train.deterministic has no effect"));
}

TEST_F(TrainingRunTest, WithoutAnObserverItIsTheSameRun) {
  TrainingRun watched(config_, folder_ / "out"), alone(config_, folder_ / "alone");
  watched.train(noting(0));
  alone.train({});
  EXPECT_EQ(read_file(watched.folder().model()), read_file(alone.folder().model()));
}

TEST_F(TrainingRunTest, AStoppedRunResumesToTheSameModel) {
  TrainingRun whole(config_, folder_ / "whole");
  whole.train({});
  {
    TrainingRun run(config_, folder_ / "out");
    const RunResult result = run.train(noting(5));
    EXPECT_TRUE(result.stopped);
    EXPECT_EQ(result.steps, 5U);
    EXPECT_TRUE(run.folder().has_checkpoint());
    EXPECT_NE(notes_.back(), "trained");
    EXPECT_THROW(TrainingRun::resume(folder_ / "out", {}), InputError) << "it is still claimed";
  }
  notes_.clear();
  {
    TrainingRun run = TrainingRun::resume(folder_ / "out", 2);
    EXPECT_TRUE(run.has_checkpoint());
    EXPECT_FALSE(run.finished());
    EXPECT_FALSE(run.train(noting(0)).stopped);
    EXPECT_EQ(notes_[2].substr(0, 5), "start");
    EXPECT_EQ(notes_[3], "resumed 5 9");
    EXPECT_EQ(notes_[4], "epoch 2");
    EXPECT_EQ(run.config().train.threads, 1U) << "the number of threads is this process's own";
  }
  EXPECT_EQ(read_file(folder_ / "out/model.slide"), read_file(folder_ / "whole/model.slide"));
  EXPECT_TRUE(TrainingRun::resume(folder_ / "out", {}).finished());
  EXPECT_THROW(TrainingRun::resume(folder_ / "nowhere", {}), InputError);
}

TEST_F(TrainingRunTest, ATrainedModelIsMeasuredAsTrainingDid) {
  double precision = 0.0;
  RunObserver observer;
  observer.eval = [&](const EvalReport& report) {
    if (!report.validation) precision = report.metrics.precision(1);
  };
  TrainingRun run(config_, folder_ / "out");
  run.train(observer);
  Model model = open_model(run.folder().model(), {});
  const TestResult result = test_model(model, read_test_data(config_.data.test, model, 1), {{1, 2}, 1});
  EXPECT_EQ(result.samples, 48U);
  EXPECT_EQ(result.metrics.precision(1), precision);
  const Model lsh =
      open_model(run.folder().model(), {.inference = Inference::kLsh, .format = DataFormat::kXmc});
  EXPECT_EQ(lsh.config.eval.inference, Inference::kLsh);
  EXPECT_EQ(lsh.config.data.format, DataFormat::kXmc);
}

TEST_F(TrainingRunTest, ASearchWritesWhatItFound) {
  config_.data.validation = {};
  config_.data.test = "/no/such/file";  // is ignored
  std::size_t trials = 0;
  const TuneOptions options{60.0, 2, {}};
  const fs::path file = folder_ / "new/best.toml";
  config_.train.patience = 3;
  std::vector<std::string> notes;
  const auto note = [&](const std::string& line) { notes.push_back(line); };
  const std::vector<std::string> none;
  const auto observe = [&](const Trial& trial) {
    ++trials;
    if (!trial.is_best) return;
    const Config start = parse_config(to_toml(config_), "", {"train.patience=0"});
    EXPECT_EQ(read_file(file), to_toml(parse_config(to_toml(start), "", trial.taken ? trial.changes : none)));
  };
  const TuneResult result = tune_to_file(config_, options, file, {note, nullptr, observe});
  EXPECT_EQ(trials, 2U);
  ASSERT_FALSE(notes.empty());
  EXPECT_TRUE(contains(notes[0], "train.patience = 3"));
  EXPECT_EQ(read_file(file), to_toml(result.config));
  EXPECT_THROW(tune_to_file(config_, options, folder_.root(), {}), InputError);
}

}  // namespace
}  // namespace slide
