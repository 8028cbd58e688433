// End-to-end tests of tables with named columns, and of a validation file.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/cli/program.h"

namespace slide::test {
namespace {

constexpr const char* kTableConfig = R"([train]
epochs = 4
batch_size = 16
block_size = 16
[text]
min_count = 1
[[layer]]
size = 16
[[layer]]
kind = "dense"
)";
constexpr const char* kNames[] = {"music", "deep sea", "bread"};
constexpr const char* kWords[] = {"violin cello choir", "whale coral reef", "oven salt flour"};

// Sample i as a line of each format.
struct Forms {
  std::string text, csv = "id,title,body,tags\n", json, plain, semicolons = "id;title;body;tags\n";
};
Forms samples(int count) {
  Forms forms;
  for (int i = 0; i < count; ++i) {
    const std::string label = kNames[i % 3], title = kWords[i % 3], body = fmt::format("number {}", i % 5);
    forms.text += fmt::format("{}\t{} {}\n", label, title, body);
    forms.csv += fmt::format("{},{},\"{}\",{}\r\n", i, title, body, label);
    forms.json +=
        fmt::format("{{\"title\": \"{}\", \"tags\": [\"{}\"], \"body\": \"{}\"}}\n", title, label, body);
    forms.semicolons += fmt::format("{};{};\"{}\";{}\r\n", i, title, body, label);
    forms.plain += fmt::format("{} {}\n", title, body);
  }
  return forms;
}

class TableCliTest : public testing::Test {
 protected:
  void SetUp() override {
    write_file(slide_.path("c.toml"), kTableConfig);
    write("train", samples(60));
    write("test", samples(12));
  }
  void write(const std::string& name, const Forms& forms) {
    write_file(slide_.path(name + ".txt"), forms.text);
    write_file(slide_.path(name + ".csv"), forms.csv);
    write_file(slide_.path(name + ".jsonl"), forms.json);
    write_file(slide_.path(name + ".plain"), forms.plain);
    write_file(slide_.path(name + ".semicolons.csv"), forms.semicolons);
  }
  Outcome train(const std::string& data, const Strings& more = {}) {
    return slide_.run(
        Strings{"train", "c.toml", "--set", "data.train=" + data, "--out", data + "-run", "--force"} + more);
  }
  std::string answers(const std::string& model, const std::string& data, const std::string& input = "") {
    const Outcome done = slide_.run({"predict", model + "-run/model.slide", data}, input);
    EXPECT_EQ(done.code, 0) << data << ": " << done.err;
    return done.out;
  }

  const Strings columns_ = {"--set", "data.text=title,body", "--set", "data.labels=tags"};
  const Program slide_;
};

TEST_F(TableCliTest, TrainAndPredictAsTheirTextDoes) {
  ASSERT_EQ(train("train.txt").code, 0);
  const std::string expected = answers("train.txt", "test.plain");
  EXPECT_TRUE(contains(expected, "deep sea:"));
  for (const std::string table : {"train.csv", "train.jsonl", "train.semicolons.csv"}) {
    expect_done(train(table, columns_));
    for (const char* data : {"test.plain", "test.csv", "test.jsonl", "test.semicolons.csv"}) {
      EXPECT_EQ(answers(table, data), expected) << table << data;
      EXPECT_EQ(answers(table, "-", read_file(slide_.path(data))), expected) << table << data;
      const Outcome piped =
          slide_.run_behind(fmt::format("cat {}", data), {"predict", table + "-run/model.slide", "-"});
      EXPECT_EQ(piped.out, expected) << table << data << piped.err;
    }
    for (const char* data : {"test.csv", "test.jsonl", "test.txt"}) {
      const Outcome tested = slide_.run({"test", table + "-run/model.slide", data, "--json"});
      EXPECT_TRUE(contains(tested.out, "\"samples\":12")) << tested.err;
      EXPECT_TRUE(contains(tested.out, "\"unknown_labels\":0"));
    }
  }
}

TEST_F(TableCliTest, ThatLackColumnsAreRefused) {
  expect_refused(train("train.csv"), "the columns id, title, body, tags");
  expect_refused(train("train.csv", {"--set", "data.text=titel", "--set", "data.labels=tags"}), "'titel'");
  expect_refused(train("train.csv", {"--set", "data.text=title"}), "data.labels");
  ASSERT_EQ(train("train.csv", columns_).code, 0);
  write_file(slide_.path("other.csv"), "a,b\n1,2\n");
  expect_refused(slide_.run({"predict", "train.csv-run/model.slide", "other.csv"}),
                 "other.csv:1:1: there is no column 'title'");
  write_file(slide_.path("bad.csv"), "title,body\nviolin,\n\"cello\"x,\nwhale,\n");
  const Outcome bad = slide_.run({"predict", "train.csv-run/model.slide", "bad.csv"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(contains(bad.err, "bad.csv:3:8: text behind closing quotes"));
  const Outcome skipped = slide_.run({"predict", "train.csv-run/model.slide", "bad.csv", "--skip-bad"});
  EXPECT_EQ(skipped.code, 3);
  EXPECT_EQ(std::count(skipped.out.begin(), skipped.out.end(), '\n'), 3);
}

TEST_F(TableCliTest, AreConverted) {
  const Strings columns = {"--set", "data.text=title,body", "--set", "data.labels=tags"};
  const auto convert = [&](const std::string& from, const std::string& to, Strings more) {
    more.insert(more.begin(), {"convert", from, to});
    expect_done(slide_.run(more));
    return read_file(slide_.path(to));
  };
  EXPECT_EQ(convert("train.csv", "c.tsv", columns), read_file(slide_.path("train.txt")));
  EXPECT_EQ(convert("train.jsonl", "j.tsv", columns), read_file(slide_.path("train.txt")));
  const std::string rows = convert("train.txt", "t.xmc", {});
  EXPECT_EQ(convert("train.csv", "c.xmc", columns), rows);
  EXPECT_EQ(convert("train.jsonl", "j.xmc", columns), rows);
  ASSERT_EQ(train("train.csv", columns_).code, 0);
  EXPECT_EQ(convert("train.csv", "m.xmc", {"--model", "train.csv-run/model.slide"}), rows);
}

TEST_F(TableCliTest, WeightsTeach) {
  std::string table = "text,tag,w\n", kept = "text,tag\n";
  for (int i = 0; i < 40; ++i) {
    const bool counts = i % 4 != 0;
    table += fmt::format("violin {},{},{}\n", i % 7, counts ? "music" : "noise", counts ? 1 : 0);
    if (counts) kept += fmt::format("violin {},music\n", i % 7);
  }
  write_file(slide_.path("w.csv"), table);
  const Strings columns = {"--set", "data.text=text", "--set", "data.labels=tag"};
  Strings weighted = columns;
  weighted.insert(weighted.end(), {"--set", "data.weight=w"});
  ASSERT_EQ(train("w.csv", columns).code, 0);
  const std::string without = answers("w.csv", "-", "violin\n");
  expect_done(train("w.csv", weighted));
  const std::string with = answers("w.csv", "-", "violin\n");
  EXPECT_NE(with, without);
  EXPECT_TRUE(with.starts_with("music:"));
}

TEST_F(TableCliTest, ValidationMayBeAFile) {
  const Outcome done =
      expect_done(train("train.txt", {"--set", "data.validation=test.txt", "--set", "train.patience=2"}));
  const std::string log = read_file(slide_.path("train.txt-run/metrics.jsonl"));
  EXPECT_TRUE(contains(log, "\"event\":\"validation\""));
  EXPECT_TRUE(std::filesystem::exists(slide_.path("train.txt-run/best-model.slide")));
  EXPECT_TRUE(contains(done.out, "60 samples")) << "all are trained on";
  EXPECT_TRUE(contains(done.out, "12 samples"));
  expect_refused(train("train.txt", {"--set", "data.validation=none.txt"}), "none.txt: no such file");
  const Outcome tuned =
      expect_done(slide_.run({"tune", "c.toml", "--set", "data.train=train.txt", "--set",
                              "data.validation=test.txt", "--trials", "2", "--out", "tuned.toml"}));
  EXPECT_TRUE(contains(tuned.out, "2 trials on 60 samples, scored on 6 others"));
  EXPECT_TRUE(contains(read_file(slide_.path("tuned.toml")), "test.txt\""));
}

}  // namespace
}  // namespace slide::test
