// Tests of the checkpoint file: complete or absent, and refused when damaged or of another run.
#include "engine/run/checkpoint.h"
#include "engine/crosses/feature_transform.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "datasets/reader.h"
#include "engine/base/error.h"
#include "engine/model/model_file.h"
#include "engine/wide/linear_term.h"
#include "tests/run/file_bytes.h"
#include "tests/run/tiny_run.h"

namespace slide {
namespace {

using test::tiny_data;
using test::with_checksum;

namespace fs = std::filesystem;

class CheckpointTest : public FolderTest {
 protected:
  CheckpointTest() { record_ = {config_, 16, digest_of(data_), std::nullopt, 77}; }
  std::string path(const char* name = "checkpoint.slide") const { return FolderTest::path(name); }

  void run_until(Trainer& trainer, std::uint64_t step) const {
    TrainObserver observer;
    observer.step = [&](const StepReport& report) { return report.step != step; };
    trainer.run(observer);
  }
  std::string model_of(const Trainer& trainer) const {
    save_model(path("model.slide"), {config_, trainer.shape(), trainer.trained(),
                                     &trainer.training().optimizer_state(), trainer.steps()});
    return read_file(path("model.slide"));
  }
  std::string refusal_of(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return test::file_error(path(), [&] { Checkpoint saved(path()); });
  }

  void expect_any_stop_gives_the_same_model();

  static Config config(std::vector<std::string> overrides = {}) {
    for (const char* own : {"data.crosses=0", "layer.-1.wide=true", "train.epochs=4"})
      overrides.insert(overrides.begin(), own);
    return parse_config(test::kTinyConfig, "test", overrides);
  }

  Dataset data_ = tiny_data();
  Config config_ = config();
  RunRecord record_;
};

TEST_F(CheckpointTest, AnyStopGivesTheSameModelFile) {
  for (const double power : {0.0, 2.0}) {
    SCOPED_TRACE(power);
    config_.data.idf_power = power;
    record_.config = config_;
    expect_any_stop_gives_the_same_model();
  }
}

void CheckpointTest::expect_any_stop_gives_the_same_model() {
  Trainer whole(fresh_job(config_, data_));
  ASSERT_TRUE(whole.run({}));
  const std::string expected = model_of(whole);
  for (std::uint64_t step = 1; step <= whole.total_steps(); ++step) {
    {
      Trainer first(fresh_job(config_, data_));
      run_until(first, step);
      save_checkpoint(path(), record_, first);
    }
    const Checkpoint saved(path());
    EXPECT_EQ(saved.record().step_samples, 16U);
    EXPECT_EQ(saved.record().train, digest_of(data_));
    EXPECT_FALSE(saved.record().test);
    EXPECT_EQ(saved.record().log_bytes, 77U);
    EXPECT_EQ(to_toml(saved.record().config), to_toml(config_));
    Trainer second(resumed_job(config_, data_, saved.record().step_samples));
    saved.restore(second);
    ASSERT_TRUE(second.run({}));
    EXPECT_TRUE(model_of(second) == expected) << "stopped after step " << step;
  }
}

TEST_F(CheckpointTest, DamageIsRefused) {
  Trainer trainer(fresh_job(config_, data_));
  save_checkpoint(path(), record_, trainer);
  const std::string good = read_file(path());
  EXPECT_EQ(refusal_of(good), "");
  EXPECT_TRUE(contains(refusal_of("nonsense that is long enough"), "no checkpoint"));
  EXPECT_TRUE(contains(refusal_of(""), "no checkpoint"));
  for (const std::size_t length :
       {std::size_t{9}, std::size_t{12}, std::size_t{20}, good.size() / 2, good.size() - 1})
    EXPECT_NE(refusal_of(good.substr(0, length)), "") << length;
  EXPECT_NE(refusal_of(good + "x"), "");
  for (std::size_t at = 12; at < good.size(); at += good.size() / 37) {
    std::string broken = good;
    broken[at] = static_cast<char>(broken[at] ^ 0x20);
    EXPECT_NE(refusal_of(broken), "") << at;
  }
  std::string newer = good;
  newer[8] = 9;
  EXPECT_TRUE(contains(refusal_of(newer), "version 9"));
}

TEST_F(CheckpointTest, ValuesThatCannotBeAreRefused) {
  config_.data.idf_power = 1;
  record_.config = config_;
  Trainer trainer(fresh_job(config_, data_));
  save_checkpoint(path(), record_, trainer);
  const std::string good = read_file(path());
  const LinearTerm::Storage& wide = linear_term_of(trainer.network().output())->storage();
  const Parameters& input = trainer.network().input()->weights();
  const auto refusal_with = [&](std::string_view part, std::size_t at, auto value) {
    std::string bytes = good;
    const std::size_t place = bytes.find(part);
    EXPECT_NE(place, std::string::npos);
    if (place == std::string::npos) return std::string();
    std::memcpy(bytes.data() + place + at, &value, sizeof value);
    std::ofstream(path(), std::ios::binary) << with_checksum(bytes);
    Trainer second(fresh_job(config_, data_));
    return test::file_error(path(), [&] { Checkpoint(path()).restore(second); });
  };
  EXPECT_EQ(refusal_with(bytes_of(wide.features), 0, wide.features[0]), "");
  for (const std::uint32_t id : {12U, 1000U, ~0U})
    EXPECT_TRUE(contains(refusal_with(bytes_of(wide.features), 4, id), "impossible wide weights"));
  EXPECT_TRUE(contains(refusal_with(bytes_of(wide.features), 4, wide.features[0]),
                       "wide weights, neuron 0: features that do not ascend"));
  for (const std::uint64_t offset : {std::uint64_t{1}, ~std::uint64_t{0}})
    EXPECT_TRUE(contains(refusal_with(bytes_of(wide.offsets), 8, offset << 20), "impossible wide weights"));
  for (const float value : {NAN, INFINITY}) {
    EXPECT_TRUE(contains(refusal_with(bytes_of(wide.weights), 0, value), "wide weights, neuron 0, feature"));
    EXPECT_TRUE(contains(refusal_with(bytes_of(input.weights), (3 * input.stride + 2) * sizeof value, value),
                         "weights of layer.0, row 3, column 2: no finite number"));
    EXPECT_TRUE(contains(refusal_with(bytes_of(scale_of(trainer.network()).factors()), 0, value),
                         "impossible factors"));
  }
}

TEST_F(CheckpointTest, FullDiskLeavesTheOneBefore) {
  Trainer trainer(fresh_job(config_, data_));
  save_checkpoint(path(), record_, trainer);
  const std::string before = read_file(path());
  run_until(trainer, 2);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  rlimit small = old;
  small.rlim_cur = before.size() / 2;
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(save_checkpoint(path(), record_, trainer), Error);
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_TRUE(read_file(path()) == before);
  EXPECT_EQ(folder_.files(), 1U);
  save_checkpoint(path(), record_, trainer);
  EXPECT_FALSE(read_file(path()) == before);
}

TEST_F(CheckpointTest, ReadOnlyFolderLeavesTheOneBefore) {
  if (geteuid() == 0) GTEST_SKIP() << "root writes anywhere";
  Trainer trainer(fresh_job(config_, data_));
  save_checkpoint(path(), record_, trainer);
  const std::string before = read_file(path());
  fs::permissions(folder_.root(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THROW(save_checkpoint(path(), record_, trainer), Error);
  fs::permissions(folder_.root(), fs::perms::owner_all);
  EXPECT_TRUE(read_file(path()) == before);
}

TEST_F(CheckpointTest, OtherConfigurationsAreNamed) {
  const auto message = [&](const std::vector<std::string>& overrides) {
    return input_error([&] { check_same_config(config_, config(overrides), "config.toml"); });
  };
  EXPECT_EQ(message({}), "");
  EXPECT_EQ(message({"train.threads=3", "data.train=elsewhere.txt", "train.checkpoint_every=5"}), "");
  EXPECT_TRUE(contains(message({"train.epochs=9"}), "'train.epochs' is 9, but the run began with 4"));
  EXPECT_TRUE(contains(message({"layer.1.hash.tables=5"}), "'layer.1.hash.tables'"));
}

TEST_F(CheckpointTest, OtherDataHaveAnotherDigest) {
  EXPECT_EQ(digest_of(tiny_data()), digest_of(tiny_data()));
  EXPECT_NE(digest_of(tiny_data()), digest_of(tiny_data(0.26)));
}

}  // namespace
}  // namespace slide
