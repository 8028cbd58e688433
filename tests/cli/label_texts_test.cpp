// End-to-end tests of data.label_text: labels known only by their text, tables, features, refusals.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class LabelTextsCliTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    std::string text, table = "label,words\n", features = "60 8 2\n";
    for (int i = 0; i < 60; ++i) {
      text += fmt::format("{}\t{} {}\n", i % 2 == 0 ? "music" : "nature", i % 2 == 0 ? "violin" : "forest",
                          i % 7);
      table +=
          fmt::format("{},{} {}\n", i % 2 == 0 ? "music" : "nature", i % 2 == 0 ? "violin" : "forest", i % 7);
      features += fmt::format("{} {}:1 {}:0.5\n", i % 2, i % 2, 4 + i % 3);
    }
    write_file(slide_.path("d.tsv"), text);
    write_file(slide_.path("d.csv"), table);
    write_file(slide_.path("d.txt"), features);
    write_file(slide_.path("t.tsv"), "dance\tballet shoes\nnature\tforest trees\n");
  }
  Outcome teach(const std::string& data, const std::string& texts, std::vector<std::string> more = {}) {
    return slide_.run(Strings{"train", data, "--out", "run", "--force", "--set", "text.min_count=1",
                              "train.epochs=6", "data.label_text=" + texts} +
                      more);
  }
  std::string best(const std::string& asked) {
    const Outcome outcome = expect_done(slide_.run({"predict", "run", "-", "--k", "1"}, asked));
    return outcome.out.substr(0, outcome.out.find(':'));
  }
  void refused(const std::string& data, const std::string& texts, const std::string& what) {
    expect_refused(teach(data, texts), what);
  }
};

TEST_F(LabelTextsCliTest, FindLabelsWithoutASample) {
  for (const std::string& data : {std::string("d.tsv"), std::string("d.csv")}) {
    std::vector<std::string> more;
    if (data == "d.csv") more = {"data.text=words", "data.labels=label"};
    const Outcome done = expect_done(teach(data, "t.tsv", more));
    EXPECT_TRUE(contains(done.out, "60 samples"));
    EXPECT_TRUE(contains(done.out, "2 of 3 labels have one, 1 of them no sample"));
    EXPECT_EQ(best("ballet shoes\n"), "dance") << data;
    EXPECT_EQ(best("a violin\n"), "music") << data;
  }
}

TEST_F(LabelTextsCliTest, AreFeaturesInRowsToo) {
  write_file(slide_.path("labels.txt"), "3 8 0\n 0:1\n 1:1\n 7:1\n");
  expect_done(teach("d.txt", "labels.txt"));
  EXPECT_EQ(best("7:1\n"), "2");
  EXPECT_EQ(best("0:1\n"), "0");
}

TEST_F(LabelTextsCliTest, AreRefusedInOneLine) {
  refused("d.tsv", "none.tsv", "none.tsv: no such file");
  write_file(slide_.path("w.tsv"), "dance ballet\n");
  refused("d.tsv", "w.tsv", "w.tsv:1: no TAB stands between a label and its text");
  write_file(slide_.path("w.txt"), "1 8 0\n 0:1\n");
  refused("d.txt", "w.txt", "w.txt: it has 1 rows, but ");
  refused("d.txt", "names", "are numbers; name a file with the features of each");
}

}  // namespace
}  // namespace slide::test
