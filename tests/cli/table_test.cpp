// End-to-end tests of tables with named columns, and of a validation file.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/cli/program.h"

namespace slide::test {
namespace {

using Strings = std::vector<std::string>;

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
    Strings arguments = {"train", "c.toml", "--set", "data.train=" + data, "--out", data + "-run", "--force"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return slide_.run(arguments);
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
  EXPECT_NE(expected.find("deep sea:"), std::string::npos);
  for (const std::string table : {"train.csv", "train.jsonl", "train.semicolons.csv"}) {
    const Outcome done = train(table, columns_);
    ASSERT_EQ(done.code, 0) << done.err;
    for (const char* data : {"test.plain", "test.csv", "test.jsonl", "test.semicolons.csv"}) {
      EXPECT_EQ(answers(table, data), expected) << table << data;
      EXPECT_EQ(answers(table, "-", read_file(slide_.path(data))), expected) << table << data;
      const Outcome piped =
          slide_.run_behind(fmt::format("cat {}", data), {"predict", table + "-run/model.slide", "-"});
      EXPECT_EQ(piped.out, expected) << table << data << piped.err;
    }
    for (const char* data : {"test.csv", "test.jsonl", "test.txt"}) {
      const Outcome tested = slide_.run({"test", table + "-run/model.slide", data, "--json"});
      EXPECT_NE(tested.out.find("\"samples\":12"), std::string::npos) << tested.out << tested.err;
      EXPECT_NE(tested.out.find("\"unknown_labels\":0"), std::string::npos) << tested.out;
    }
  }
}

TEST_F(TableCliTest, ThatLackColumnsAreRefused) {
  const Outcome unnamed = train("train.csv");
  EXPECT_EQ(unnamed.code, 2);
  EXPECT_NE(unnamed.err.find("the columns id, title, body, tags"), std::string::npos) << unnamed.err;
  const Outcome wrong = train("train.csv", {"--set", "data.text=titel", "--set", "data.labels=tags"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("'titel'"), std::string::npos) << wrong.err;
  const Outcome half = train("train.csv", {"--set", "data.text=title"});
  EXPECT_EQ(half.code, 2);
  EXPECT_NE(half.err.find("data.labels"), std::string::npos) << half.err;
  ASSERT_EQ(train("train.csv", columns_).code, 0);
  write_file(slide_.path("other.csv"), "a,b\n1,2\n");
  const Outcome other = slide_.run({"predict", "train.csv-run/model.slide", "other.csv"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("other.csv:1:1: there is no column 'title'"), std::string::npos) << other.err;
  write_file(slide_.path("bad.csv"), "title,body\nviolin,\n\"cello\"x,\nwhale,\n");
  const Outcome bad = slide_.run({"predict", "train.csv-run/model.slide", "bad.csv"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_NE(bad.err.find("bad.csv:3:8: text behind closing quotes"), std::string::npos) << bad.err;
  const Outcome skipped = slide_.run({"predict", "train.csv-run/model.slide", "bad.csv", "--skip-bad"});
  EXPECT_EQ(skipped.code, 3);
  EXPECT_EQ(std::count(skipped.out.begin(), skipped.out.end(), '\n'), 3);
}

TEST_F(TableCliTest, AreConverted) {
  const Strings columns = {"--set", "data.text=title,body", "--set", "data.labels=tags"};
  const auto convert = [&](const std::string& from, const std::string& to, Strings more) {
    more.insert(more.begin(), {"convert", from, to});
    const Outcome done = slide_.run(more);
    EXPECT_EQ(done.code, 0) << done.err;
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
  const Outcome done = train("w.csv", weighted);
  ASSERT_EQ(done.code, 0) << done.err;
  const std::string with = answers("w.csv", "-", "violin\n");
  EXPECT_NE(with, without);
  EXPECT_TRUE(with.starts_with("music:"));
}

TEST_F(TableCliTest, ValidationMayBeAFile) {
  const Outcome done = train("train.txt", {"--set", "data.validation=test.txt", "--set", "train.patience=2"});
  ASSERT_EQ(done.code, 0) << done.err;
  const std::string log = read_file(slide_.path("train.txt-run/metrics.jsonl"));
  EXPECT_NE(log.find("\"event\":\"validation\""), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(slide_.path("train.txt-run/best-model.slide")));
  EXPECT_NE(done.out.find("60 samples"), std::string::npos) << "all are trained on" << done.out;
  EXPECT_NE(done.out.find("12 samples"), std::string::npos) << done.out;
  const Outcome missing = train("train.txt", {"--set", "data.validation=none.txt"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("none.txt: no such file"), std::string::npos) << missing.err;
  const Outcome tuned = slide_.run({"tune", "c.toml", "--set", "data.train=train.txt", "--set",
                                    "data.validation=test.txt", "--trials", "2", "--out", "tuned.toml"});
  EXPECT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_NE(tuned.out.find("2 trials on 60 samples, scored on 6 others"), std::string::npos) << tuned.out;
  EXPECT_NE(read_file(slide_.path("tuned.toml")).find("test.txt\""), std::string::npos);
}

}  // namespace
}  // namespace slide::test
