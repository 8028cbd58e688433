// Tests of commands on dense features in .npy files, alone and with sparse features.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

constexpr int kDenseLabels = 12, kDenseColumns = 20;

// The bytes of numpy.save for a matrix.
template <class T>
std::string npy(const char* type, std::size_t rows, const std::vector<T>& values) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}", type,
                                   rows, values.size() / rows);
  header.append(63 - (10 + header.size()) % 64, ' ').push_back('\n');
  const auto length = static_cast<std::uint16_t>(header.size());
  return std::string("\x93NUMPY\x01\x00", 8) + std::string(reinterpret_cast<const char*>(&length), 2) +
         header + std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// Sample i has label i % kDenseLabels, and a large number in that label's column.
std::vector<float> rows_of(int samples) {
  std::vector<float> values(static_cast<std::size_t>(samples * kDenseColumns));
  for (int i = 0; i < samples; ++i) {
    for (int c = 0; c < kDenseColumns; ++c) {
      values[static_cast<std::size_t>(i * kDenseColumns + c)] =
          static_cast<float>((i * 37 + c * 61) % 17) / 40.0F + (c == i % kDenseLabels ? 2.0F : 0.0F);
    }
  }
  return values;
}

class DenseTest : public CliTest {
 protected:
  void SetUp() override {
    std::string config(kConfig);
    write_file(slide_.path("small.toml"), config);
    write_file(slide_.path("one.toml"), config.erase(config.find("[[layer]]"), 20));
    write_set("trn", 300);
    write_set("tst", 60);
  }

  // Writes X.NAME.npy, its labels in Y.NAME.txt, and its sparse features in S.NAME.txt.
  void write_set(const std::string& name, int samples) {
    write_file(slide_.path("X." + name + ".npy"),
               npy("<f4", static_cast<std::size_t>(samples), rows_of(samples)));
    std::string labels, sparse = fmt::format("{} 5 {}\n", samples, kDenseLabels);
    for (int i = 0; i < samples; ++i) {
      labels += fmt::format("{}\n", i % kDenseLabels);
      sparse += fmt::format("{} {}:1\n", i % kDenseLabels, i % 5);
    }
    write_file(slide_.path("Y." + name + ".txt"), labels);
    write_file(slide_.path("S." + name + ".txt"), sparse);
  }
  Outcome train_on(const std::string& config, const std::string& data, const std::string& out,
                   std::vector<std::string> more = {}) {
    return slide_.run(
        Strings{"train", config, "--set", "data.train=" + data, "--set", "train.epochs=12", "--out", out} +
        more);
  }
  double precision(const std::string& model, const std::string& data) {
    const Outcome done = expect_done(slide_.run({"test", model, data, "--json"}));
    return done.code == 0 ? Json::parse(done.out)["p_at_1"].get<double>() : 0.0;
  }
};

TEST_F(DenseTest, ASearchLeavesKeysOfSparseFeaturesAlone) {
  const Outcome done = expect_done(slide_.run({"tune", "X.trn.npy", "--trials", "30", "--out", "t.toml",
                                               "--set", "train.epochs=1", "layer.0.size=8"}));
  for (const char* key : {"idf_power", "crosses", "wide"}) EXPECT_FALSE(contains(done.out, key)) << done.out;
  EXPECT_TRUE(contains(done.out, "loss.kind")) << done.out;
}

TEST_F(DenseTest, TrainsTestsAndPredicts) {
  for (const std::string config : {"small.toml", "one.toml"}) {
    const std::string out = config + ".run";
    expect_done(train_on(config, "X.trn.npy", out, {"--test", "X.tst.npy"}));
    EXPECT_GT(precision(out, "X.tst.npy"), 0.95) << config;
    EXPECT_GT(precision(out, "X.tst.npy,Y.tst.txt"), 0.95) << config;
    std::filesystem::remove(slide_.path("Y.tst.txt"));  // labels are not needed
    const Outcome predicted = expect_done(slide_.run({"predict", out, "X.tst.npy", "--k", "1"}));
    EXPECT_EQ(std::count(predicted.out.begin(), predicted.out.end(), '\n'), 60);
    EXPECT_TRUE(predicted.out.starts_with("0:")) << predicted.out;
    expect_done(
        slide_.run({"predict", out, "X.tst.npy", "--k", "1", "--inference", "lsh", "--threads", "1"}));
    write_set("tst", 60);
  }
}

TEST_F(DenseTest, TrainsByTheDefaults) {
  expect_done(slide_.run({"train", "X.trn.npy", "--test", "X.tst.npy", "--out", "out"}));
  EXPECT_GT(precision("out", "X.tst.npy"), 0.9);
  const Outcome told = expect_done(slide_.run({"inspect", "out"}));
  EXPECT_TRUE(contains(told.out, "20 of them are dense columns"));
  EXPECT_EQ(slide_.run({"inspect", "X.trn.npy"}).code, 0);
}

TEST_F(DenseTest, NeighboursVoteAndAreStored) {
  for (const std::string share : {"0", "0.5"})
    ASSERT_EQ(train_on("small.toml", "X.trn.npy", "share" + share,
                       {"--set", "neighbours.share=" + share, "layer.-1.wide=false"})
                  .code,
              0);
  const std::string none = slide_.run({"predict", "share0", "X.tst.npy"}).out;
  const Outcome voted = expect_done(slide_.run({"predict", "share0.5", "X.tst.npy"}));
  EXPECT_NE(voted.out, none);
  EXPECT_GT(precision("share0.5", "X.tst.npy"), 0.95);
  const Json told = Json::parse(slide_.run({"inspect", "share0.5", "--json"}).out);
  EXPECT_EQ(told["neighbours"]["samples"].get<int>(), 300);
  for (const std::string weights : {"bf16", "int8"}) {
    expect_done(slide_.run({"convert", "share0.5/model.slide", weights + ".slide", "--weights", weights}));
    EXPECT_GT(precision(weights + ".slide", "X.tst.npy"), 0.95);
  }
}

TEST_F(DenseTest, TakesSparseFeaturesToo) {
  const std::string train = "X.trn.npy+S.trn.txt", test = "X.tst.npy+S.tst.txt";
  ASSERT_EQ(train_on("small.toml", train, "out", {"--set", "layer.-1.wide=true"}).code, 0);
  EXPECT_GT(precision("out", test), 0.95);
  const Outcome predicted = expect_done(slide_.run({"predict", "out", test, "--k", "1"}));
  // A matrix of these needs no labels, and is not enough alone.
  ASSERT_EQ(slide_.run({"convert", "S.tst.txt", "X.s.npz"}).code, 0);
  std::filesystem::remove(slide_.path("Y.s.npz"));
  const Outcome found = expect_done(slide_.run({"predict", "out", "X.tst.npy+X.s.npz", "--k", "1"}));
  EXPECT_EQ(found.out, predicted.out);
  expect_refused(slide_.run({"predict", "out", "X.s.npz"}),
                 "X.s.npz: it has no dense features, but 20 columns");
  expect_refused(slide_.run({"test", "out", "S.tst.txt"}),
                 "S.tst.txt: it has no dense features, but 20 columns");
  expect_refused(train_on("one.toml", train, "two"), "needs a first layer that is hidden and dense");
  const std::string alone = ": it has dense columns alone, but";
  for (const char* command : {"test", "predict"})
    expect_refused(slide_.run({command, "out", "X.tst.npy"}), "X.tst.npy" + alone);
  expect_refused(train_on("small.toml", train, "three", {"--set", "data.test=X.tst.npy"}),
                 "X.tst.npy" + alone);
  expect_refused(
      train_on("small.toml", "X.trn.npy", "four", {"--init", "out", "--set", "layer.-1.wide=true"}),
      "X.trn.npy" + alone);
}

// The same samples as lines of a table, their numbers in a column; and without it.
class DenseLinesTest : public DenseTest {
 protected:
  void SetUp() override {
    DenseTest::SetUp();
    write_lines("trn", 300);
    write_lines("tst", 60);
  }
  void write_lines(const std::string& name, int samples) {
    const std::vector<float> values = rows_of(samples);
    std::string with, without;
    for (int i = 0; i < samples; ++i) {
      const std::string line = line_of(i);
      without += line + "}\n";
      const auto* const row = values.data() + i * kDenseColumns;
      with += fmt::format("{}, \"ids\": [1, 2], \"vector\": [{}]}}\n", line,
                          fmt::join(std::vector<float>(row, row + kDenseColumns), ", "));
    }
    write_file(slide_.path(name + ".jsonl"), with);
    write_file(slide_.path(name + ".texts.jsonl"), without);
  }
  // Without its end.
  static std::string line_of(int i) {
    return fmt::format(R"({{"text": "word{} common", "labels": ["L{}"])", i % 5, i % kDenseLabels);
  }
  Outcome train_lines(const std::string& data, const std::string& out, std::vector<std::string> more = {}) {
    more.insert(more.end(), columns_.begin(), columns_.end());
    return train_on("small.toml", data, out, more);
  }
  std::string answers(const std::string& model, const std::string& data, const std::string& input = {}) {
    const Outcome done = expect_done(slide_.run({"predict", model, data, "--k", "3"}, input));
    return done.out;
  }
  const std::vector<std::string> columns_ = {"--set", "data.text=text",  "--set", "data.labels=labels",
                                             "--set", "text.min_count=1"};
};

TEST_F(DenseLinesTest, GiveTheModelOfAPairOfFiles) {
  const Outcome found = expect_done(train_lines("trn.jsonl", "lines", {"--test", "tst.jsonl"}));
  EXPECT_TRUE(contains(found.out, "the column 'vector': 20 numbers a sample"));
  ASSERT_EQ(train_lines("trn.jsonl", "named", {"--set", "data.dense=vector"}).code, 0);
  ASSERT_EQ(train_lines("X.trn.npy+trn.texts.jsonl", "pair").code, 0);
  const std::string expected = answers("pair", "X.tst.npy+tst.texts.jsonl");
  EXPECT_EQ(answers("lines", "tst.jsonl"), expected);
  EXPECT_EQ(answers("named", "tst.jsonl"), expected);
  EXPECT_EQ(answers("lines", "-", file("tst.jsonl")), expected);
  EXPECT_EQ(answers("lines", "X.tst.npy+tst.texts.jsonl"), expected);
  EXPECT_EQ(answers("lines", "X.tst.npy+tst.jsonl"), expected);
  EXPECT_GT(precision("lines", "tst.jsonl"), 0.95);
}

TEST_F(DenseLinesTest, MayLieInSeveralFiles) {
  const std::string all = file("trn.jsonl");
  const std::size_t cut = all.find('\n', all.size() / 3) + 1;
  write_file(slide_.path("part-a.jsonl"), all.substr(0, cut));
  write_file(slide_.path("part-b.jsonl"), all.substr(cut));
  ASSERT_EQ(train_lines("trn.jsonl", "one").code, 0);
  ASSERT_EQ(train_lines("part-*.jsonl", "two", {"--set", "data.cache=true"}).code, 0);
  EXPECT_EQ(answers("two", "tst.jsonl"), answers("one", "tst.jsonl"));
  std::string few = all.substr(cut);
  for (std::size_t at = 0; (at = few.find(", 0.", at)) != std::string::npos;) {
    few.erase(at, few.find_first_of(",]", at + 2) - at);  // a number less in each line
    at = few.find('\n', at);
  }
  write_file(slide_.path("part-b.jsonl"), few);
  expect_refused(train_lines("part-*.jsonl", "none"), "part-b.jsonl: its column 'vector' has 19 numbers");
}

TEST_F(DenseLinesTest, AreInspectedTunedMeasuredAndContinued) {
  ASSERT_EQ(train_lines("trn.jsonl", "out").code, 0);
  const Json model = Json::parse(slide_.run({"inspect", "out", "--json"}).out);
  EXPECT_EQ(model["dense_columns"], 20);
  EXPECT_EQ(model["dense_column"], "vector");
  const Outcome data = slide_.run(Strings{"inspect", "trn.jsonl"} + columns_);
  EXPECT_TRUE(contains(data.out, "and 20 dense columns, of the column 'vector'"));
  write_file(slide_.path("answers"), answers("out", "tst.jsonl"));
  const Outcome measured = expect_done(
      slide_.run({"evaluate", "answers", "tst.jsonl", "--model", "out/model.slide", "--k", "1", "--json"}));
  EXPECT_DOUBLE_EQ(Json::parse(measured.out)["p_at_1"].get<double>(), precision("out", "tst.jsonl"));
  expect_done(slide_.run(Strings{"tune", "trn.jsonl", "--trials", "2", "--out", "tuned"} + columns_));
  const Outcome more = expect_done(slide_.run({"train", "--init", "out", "tst.jsonl", "--out", "more"}));
  EXPECT_GT(precision("more", "tst.jsonl"), 0.9);
}

TEST_F(DenseLinesTest, AreRefusedByTheirLine) {
  ASSERT_EQ(train_lines("trn.jsonl", "out").code, 0);
  const std::string good = file("tst.jsonl").substr(0, file("tst.jsonl").find('\n') + 1);
  const std::pair<std::string, std::string> bad[] = {
      {"}", ":2:1: there are no numbers in a column 'vector'"},
      {", \"vector\": [0.5, 1]}", ":2:1: the column 'vector' has 2 numbers, but 20 are needed"},
      {", \"vector\": null}", ":2:1: the column 'vector' holds something else than a list of numbers"},
      {", \"vector\": [[0.5]]}", ":2:1: the column 'vector' holds something else than a list of numbers"},
      {", \"vector\": [0.5, NaN]}", "NaN is no number in JSON"},
      {", \"vector\": [0.5, -Infinity]}", "Infinity is no number in JSON"},
      {", \"vector\": [1e39, 1]}", ":2:1: the column 'vector' has a number that is too large for a float"}};
  for (const auto& [end, what] : bad) {
    const std::string lines = good + line_of(1) + end + "\n";
    write_file(slide_.path("bad.jsonl"), lines);
    expect_refused(slide_.run({"predict", "out", "-"}, lines), what);
    expect_refused(slide_.run({"predict", "out", "bad.jsonl"}), what);
    expect_refused(slide_.run({"test", "out", "bad.jsonl"}), what);
    write_file(slide_.path("bad.jsonl"), file("tst.jsonl") + line_of(1) + end + "\n" + file("tst.jsonl"));
    expect_refused(train_lines("bad.jsonl", "none"), what.starts_with(":2") ? ":61" + what.substr(2) : what);
    const Outcome skipped = slide_.run({"train", "small.toml", "--set", "data.train=bad.jsonl", "--set",
                                        "data.text=text", "--set", "data.labels=labels", "--set",
                                        "text.min_count=1", "--skip-bad", "--out", "skipped", "--force"});
    EXPECT_EQ(skipped.code, 3) << skipped.err;  // rows are left out
    EXPECT_TRUE(contains(skipped.err, "1 bad row was left out"));
  }
  expect_refused(slide_.run({"test", "out", "tst.texts.jsonl"}), "tst.texts.jsonl:1:1: there are no numbers");
  expect_refused(slide_.run({"predict", "out", "-"}, "plain words\n"), "0 dense columns, the model 20");
  write_file(slide_.path("a.csv"), "text,labels\nword1,L1\n");
  expect_refused(slide_.run({"predict", "out", "a.csv"}),
                 "'vector', which data.dense names, is a column of JSON");
}

TEST_F(DenseLinesTest, AreNamedWhereTheyAreNotClear) {
  ASSERT_EQ(train_lines("trn.jsonl", "none", {"--set", "data.dense=none"}).code, 0);
  EXPECT_EQ(Json::parse(slide_.run({"inspect", "none", "--json"}).out)["dense_columns"], 0);
  expect_done(slide_.run({"train", "--init", "none", "trn.jsonl", "--out", "more"}));
  ASSERT_EQ(train_lines("trn.jsonl", "ids", {"--set", "data.dense=ids"}).code, 0);
  EXPECT_EQ(Json::parse(slide_.run({"inspect", "ids", "--json"}).out)["dense_columns"], 2);
  std::string lines = file("trn.jsonl");
  for (std::size_t at = 0; (at = lines.find("[1, 2]", at)) != std::string::npos;)
    lines.replace(at, 6, "[1.5, 2]");
  write_file(slide_.path("two.jsonl"), lines);
  const Outcome unclear = expect_done(train_lines("two.jsonl", "two"));
  EXPECT_TRUE(contains(unclear.err, "the columns 'ids' and 'vector' are lists of numbers and are not read"));
  expect_refused(train_lines("X.trn.npy+trn.jsonl", "a", {"--set", "data.dense=vector"}), "leave one out");
  expect_refused(train_lines("trn.jsonl", "a", {"--set", "data.dense=labels"}), "also that of data.labels");
  for (const std::string texts : {"vector", "text,vector"})
    expect_refused(train_on("small.toml", "trn.jsonl", "a",
                            {"--set", "data.labels=labels", "data.text=" + texts, "data.dense=vector"}),
                   "also that of data.text");
  expect_refused(train_on("small.toml", "S.trn.txt", "a", {"--set", "data.dense=x"}),
                 "'data.dense' = x needs");
}

TEST_F(DenseTest, GivesTheSameModelOfHalvesThatHoldTheSameNumbers) {
  std::vector<std::uint16_t> halves;
  std::vector<float> floats;
  for (int i = 0; i < 300 * kDenseColumns; ++i) {
    const bool one = i % kDenseColumns == i / kDenseColumns % kDenseLabels;
    halves.push_back(one ? 0x3c00 : 0xb400);
    floats.push_back(one ? 1.0F : -0.25F);
  }
  write_file(slide_.path("half.npy"), npy("<f2", 300, halves));
  write_file(slide_.path("float.npy"), npy("<f4", 300, floats));
  for (const std::string name : {"half", "float"})
    ASSERT_EQ(train_on("small.toml", name + ".npy,Y.trn.txt", name).code, 0);
  const Outcome half = expect_done(slide_.run({"predict", "half", "half.npy"}));
  EXPECT_EQ(half.out, slide_.run({"predict", "float", "float.npy"}).out);
}

TEST_F(DenseTest, ContinuesAModel) {
  ASSERT_EQ(train_on("small.toml", "X.trn.npy", "out", {"--set", "neighbours.share=0.25"}).code, 0);
  const Outcome more = expect_done(slide_.run({"train", "--init", "out", "X.tst.npy", "--out", "more"}));
  EXPECT_GT(precision("more", "X.tst.npy"), 0.9);
  const Json told = Json::parse(slide_.run({"inspect", "more", "--json"}).out);
  EXPECT_EQ(told["neighbours"]["samples"].get<int>(), 360);
}

TEST_F(DenseTest, RefusesFeaturesOfAnotherKind) {
  ASSERT_EQ(train_on("small.toml", "X.trn.npy", "out").code, 0);
  write_file(slide_.path("X.other.npy"), npy("<f4", 2, std::vector<float>(6, 1.0F)));
  write_file(slide_.path("Y.other.txt"), "0\n1\n");
  expect_refused(slide_.run({"test", "out", "X.other.npy"}), "3 columns, but 20 are known");
  expect_refused(slide_.run({"predict", "out", "X.other.npy"}), "3 columns, but 20 are known");
  expect_refused(slide_.run({"test", "out", "S.tst.txt"}), "it has no dense features");
  expect_refused(slide_.run({"predict", "out", "-"}, "0:1\n"), "0 dense columns, the model 20");
  expect_refused(slide_.run({"convert", "X.trn.npy", "out.xmc"}), "only sparse ones are converted");
  expect_refused(slide_.run({"train", "X.trn.npy,none.txt", "--out", "two"}), "none.txt: no such file");
}

}  // namespace
}  // namespace slide::test
