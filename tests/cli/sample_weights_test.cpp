// End-to-end tests of data.sample_weights: equality with a weights column, and invalid combinations.
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class SampleWeightsCliTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    write_file(slide_.path("w.toml"),
               "[train]\nepochs = 3\nbatch_size = 16\nblock_size = 16\n[text]\nmin_count = 1\n"
               "[[layer]]\nsize = 16\n[[layer]]\nkind = \"dense\"\n");
    std::string table = "text,tag,w\n", text;
    for (int i = 0; i < kRows; ++i) {
      const char* const label = i % 4 == 0 ? "noise" : i % 4 == 1 ? "nature" : "music";
      const std::string weight = i % 4 == 0 ? "0" : fmt::format("{}", 1 + 0.25 * (i % 7));
      table += fmt::format("violin {},{},{}\n", i % 7, label, weight);
      text += fmt::format("{}\tviolin {}\n", label, i % 7);
      weights_ += weight + "\n";
    }
    write_file(slide_.path("w.csv"), table);
    write_file(slide_.path("w.tsv"), text);
    write_file(slide_.path("w.txt"), weights_);
  }
  Outcome teach(const std::string& data, const std::string& out, Strings more, const Strings& options = {}) {
    Strings arguments = {"train", "w.toml", "--out", out, "--force", "--set", "data.train=" + data};
    for (const std::string& set : more) arguments.insert(arguments.end(), {"--set", set});
    arguments.insert(arguments.end(), options.begin(), options.end());
    return slide_.run(arguments);
  }
  // The scores after training with these settings.
  std::string taught(const std::string& data, const Strings& more) {
    expect_done(teach(data, "run", more));
    return scores("run");
  }
  std::string scores(const std::string& run) {
    const Outcome asked = expect_done(slide_.run({"predict", run, "-"}, "violin 1\nviolin 2\nviolin 3\n"));
    return asked.out;
  }

  static constexpr int kRows = 48;
  const std::string file_ = "data.sample_weights=w.txt";
  std::string weights_;
};

Strings of_column(Strings more) {
  more.insert(more.end(), {"data.text=text", "data.labels=tag", "data.weight=w"});
  return more;
}

TEST_F(SampleWeightsCliTest, AreThoseOfAColumn) {
  const std::string plain = taught("w.tsv", {});
  for (const Strings& more :
       {Strings{}, Strings{"data.train_first=30"}, Strings{"data.train_first=41", "data.validation=0.3"}}) {
    Strings with_file = more;
    with_file.push_back(file_);
    const std::string weighted = taught("w.tsv", with_file);
    EXPECT_EQ(weighted, taught("w.csv", of_column(more)));
    EXPECT_NE(weighted, plain);
  }
}

TEST_F(SampleWeightsCliTest, ThatAreAllTheSameChangeNothing) {
  std::string ones;
  for (int i = 0; i < kRows; ++i) ones += "3\n";
  write_file(slide_.path("w.txt"), ones);
  EXPECT_EQ(taught("w.tsv", {file_}), taught("w.tsv", {}));
}

TEST_F(SampleWeightsCliTest, MayBePackedAndComeToTheSameModel) {
  ASSERT_EQ(teach("w.tsv", "plain", {file_}).code, 0);
  const gzFile packed = gzopen(slide_.path("w.txt").c_str(), "wb");
  gzwrite(packed, weights_.data(), static_cast<unsigned>(weights_.size()));
  gzclose(packed);
  expect_done(teach("w.tsv", "packed", {file_}, {"--threads", "1"}));
  EXPECT_TRUE(read_file(slide_.path("packed/model.slide")) == read_file(slide_.path("plain/model.slide")));
  EXPECT_TRUE(contains(read_file(slide_.path("plain/config.toml")), slide_.path("w.txt")))
      << "the path is absolute";
}

TEST_F(SampleWeightsCliTest, AreOfTheNewSamplesInIncrementalTraining) {
  ASSERT_EQ(teach("w.tsv", "begun", {file_}).code, 0);
  write_file(slide_.path("more.tsv"), "nature\tviolin 1\nmusic\tviolin 2\nsport\tviolin 3\n");
  const auto go_on = [&](const std::string& out, const Strings& more) {
    return slide_.run(Strings{"train", "--init", "begun", "more.tsv", "--out", out} + more);
  };
  const Outcome without = expect_done(go_on("without", {}));
  write_file(slide_.path("more.txt"), "1\n5\n9\n");
  const Outcome with = expect_done(go_on("with", {"--set", "data.sample_weights=more.txt"}));
  EXPECT_NE(scores("with"), scores("without"));
  expect_refused(go_on("other", {"--set", file_}), "w.txt:4: a weight more than the 3 samples of");
}

TEST_F(SampleWeightsCliTest, AreRefusedInOneLineWhereTheyDoNotFit) {
  expect_refused(teach("w.csv", "out", of_column({file_})),
                 "leaves no place for data.weight = w; leave one out");
  expect_refused(teach("w.tsv", "out", {file_}, {"--skip-bad"}), "--skip-bad");
  expect_refused(teach("w.tsv", "out", {file_, "data.kind=interactions"}), "'data.sample_weights'");
  expect_refused(teach("w.tsv", "out", {"data.sample_weights=none.txt"}), "none.txt: no such file");
  write_file(slide_.path("w.txt"), weights_ + "1\n");
  expect_refused(teach("w.tsv", "out", {file_}), "w.txt:49: a weight more than the 48 samples of");
  write_file(slide_.path("w.txt"), "0\n-1\n");
  expect_refused(teach("w.tsv", "out", {file_}), "w.txt:2: the weight '-1' is no number from 0 on");
}

}  // namespace
}  // namespace slide::test
