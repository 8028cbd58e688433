// Inputs that are read otherwise than meant, from end to end: warned of once, by every command in the same
// way, refused by
// --strict, or read as they were meant.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class WarningsTest : public CliTest {
 protected:
  Outcome train_on(const std::string& data, Strings more = {}) {
    return slide_.run(
        Strings{"train", data, "--out", "r", "--force", "--set", "text.min_count=1", "--epochs", "2"} + more);
  }
  // One line on standard error, which holds these parts; in the log of the run, too.
  void expect_warning(const std::string& data, const Strings& parts, const Strings& more = {}) {
    const Outcome done = expect_done(train_on(data, more));
    EXPECT_EQ(std::ranges::count(done.err, '\n'), 1) << done.err;
    EXPECT_TRUE(done.err.starts_with("slide: warning: ")) << done.err;
    EXPECT_TRUE(contains(done.err, data));
    for (const std::string& part : parts) EXPECT_TRUE(contains(done.err, part));
    Strings logged;
    for (const Json& event : events("r")) {
      if (event["event"] == "warning") logged.push_back(event["text"]);
    }
    ASSERT_EQ(logged.size(), 1U);
    EXPECT_EQ(events("r").front()["event"], "start");
    Strings strict = more;
    strict.push_back("--strict");
    expect_refused(train_on(data, strict), parts);
  }
  void expect_refused(const Outcome& done, const Strings& parts) {
    for (const std::string& part : parts) test::expect_refused(done, part);
  }
  void write(const std::string& name, const std::string& text) { write_file(slide_.path(name), text); }
  static Json json(const Outcome& done) {
    EXPECT_EQ(done.code, 0) << done.err;
    return Json::parse(done.out);
  }

  const Strings columns_ = {"--set", "data.text=text", "--set", "data.labels=tags"};
};

TEST_F(WarningsTest, TextsAndNamesOfLabelsThatAreNotUtf8) {
  write("s.tsv", "cafe\tred ball\nart\tblue ball\ncafe\tred cat\nart\tblue cat\n");
  write("titles.tsv", "cafe\tred\nart\tcaf\xe9 blue\n");
  expect_warning("s.tsv", {"titles.tsv:2: this is not UTF-8"}, {"--set", "data.label_text=titles.tsv"});
  write("names.txt", "caf\xe9\nart\n");
  ASSERT_EQ(train_on("s.tsv").code, 0);
  const Strings predict = {"predict", "r", "s.tsv", "--labels", "names.txt"};
  const Outcome named = expect_done(slide_.run(predict));
  EXPECT_TRUE(contains(named.err, "slide: warning: names.txt:1: this is not UTF-8"));
  EXPECT_EQ(slide_.run(predict + Strings{"--strict"}).code, 2);
  write("scores.txt", named.out);
  write("truth.svm", "0 0:1\n1 0:1\n0 0:1\n1 0:1\n");
  const Outcome evaluated = slide_.run({"evaluate", "scores.txt", "truth.svm", "--labels", "names.txt"});
  EXPECT_TRUE(contains(evaluated.err, "names.txt:1: this is not UTF-8"));
}

TEST_F(WarningsTest, LabelsThatAreNoLabels) {
  write("lists.csv", "text,tags\nred ball,\"['a', 'b']\"\nblue cat,\"['b']\"\n");
  expect_warning("lists.csv", {":2: ", "['a', 'b']"}, columns_);
  write("bars.csv", "text,tags\nred ball,a|b\nblue cat,b\n");
  expect_warning("bars.csv", {":2: ", "data.label_separator=|"}, columns_);
  write("head.tsv", "labels\ttext\nmusic\tred violin\nart\tblue cat\n");
  expect_warning("head.tsv", {":1: ", "names of columns"});
  write("three.txt",
        "17\tmusic dance\tthe violin and the cello\n18\tnature\tbirds and trees sing\n"
        "19\tmusic\tcello concert violin\n20\tnature\ttrees birds\n");
  expect_warning("three.txt", {":1: ", "3 columns"});
  write("swapped.tsv",
        "Birds of the forest, a guide\t<http://x/1> <http://x/2>\nViolin making, old\t<http://x/3>\n"
        "Trees, birds and lakes\t<http://x/1>\n");
  expect_warning("swapped.tsv", {":1: ", "second column"});
  write("once.tsv", "a\tred ball\nb\tblue ball\nc\tgreen ball\n");
  expect_warning("once.tsv", {"3 labels occurs once"});
  write("once.svm", "4 0:1\n5 0:1 1:2\n6 1:1\n");
  expect_warning("once.svm", {"3 labels occurs once"});
}

TEST_F(WarningsTest, OtherEncodings) {
  write("latin.csv", "text,tags\ncaf\xe9 au lait,caf\xe9\nth\xe9 vert,th\xe9\ncafe noir,caf\xc3\xa9\n");
  expect_warning("latin.csv", {":2: ", "Latin-1"}, columns_);
  const Strings commands[] = {
      {"predict", "r", "latin.csv"},
      {"test", "r", "latin.csv"},
      {"vectors", "r", "latin.csv"},
      Strings{"convert", "latin.csv", "o.xmc", "--set", "text.min_count=1"} + columns_,
      Strings{"convert", "latin.csv", "o.ft"} + columns_,
      Strings{"inspect", "latin.csv", "--set", "text.min_count=1"} + columns_};
  ASSERT_EQ(train_on("latin.csv", columns_).code, 0);
  for (const Strings& command : commands) {
    const Outcome done = slide_.run(command);
    EXPECT_EQ(done.code, 0) << command.front() << done.err;
    EXPECT_TRUE(contains(done.err, "latin.csv:2: ")) << command.front();
    expect_refused(slide_.run(command + Strings{"--strict"}), {"latin.csv:2: ", "--strict"});
  }
  const Outcome piped = slide_.run({"predict", "r", "-"}, "text\nred\ncaf\xe9\n");
  EXPECT_TRUE(contains(piped.err, "warning: standard input:3: "));
  const std::string wide(
      "\xff\xfe"
      "t\0e\0x\0t\0,\0t\0a\0g\0s\0\n\0r\0,\0a\0\n\0",
      28);
  write("wide.csv", wide);
  expect_refused(train_on("wide.csv", columns_), {"wide.csv:1:1: ", "UTF-16", "iconv"});
  write("unmarked.csv", wide.substr(2));
  expect_refused(train_on("unmarked.csv", columns_), {"unmarked.csv:1:1: ", "UTF-16"});
  write("scores.txt", wide);
  expect_refused(slide_.run(Strings{"evaluate", "scores.txt", "latin.csv"} + columns_),
                 {"scores.txt:1:1: ", "UTF-16"});
}

TEST_F(WarningsTest, JsonOfOtherForms) {
  write("array.json", "[{\"text\": \"red\", \"tags\": \"a\"},\n{\"text\": \"blue\", \"tags\": \"b\"}]\n");
  expect_refused(train_on("array.json", columns_), {"array.json:1:1: ", "JSON array", "jq -c"});
  expect_refused(train_on("array.json"), {"JSON array"});
  write("within.json",
        "{\"articles\":[\n{\"text\":\"red\",\"tags\":[\"a\"]},\n{\"text\":\"blue\",\"tags\":[\"b\"]}]}\n");
  expect_refused(train_on("within.json", columns_), {"within.json:1:", "line of its own", "jq -c"});
  write("t.tsv", "a\tred ball\nb\tblue ball\n");
  write("labels.json", "{\"uid\": \"a\", \"title\": \"Red things\"}\n");
  expect_refused(train_on("t.tsv", {"--set", "data.label_text=labels.json"}),
                 {"labels.json:1:1: ", "JSON", "NAME<TAB>text"});
}

TEST_F(WarningsTest, SeparatorsOfLabelsBeforeATab) {
  write("t.tsv", "music;dance\tthe violin\nnature\tbirds\nmusic\tviolin\ndance; nature\tthe birds\n");
  const Strings set = {"--set", "data.label_separator=;"};
  const Outcome done = expect_done(train_on("t.tsv", set));
  EXPECT_EQ(done.err, "");
  EXPECT_TRUE(contains(done.out, "4 samples, 5 features, 3 labels"));
  EXPECT_EQ(json(slide_.run({"test", "r", "t.tsv", "--k", "3", "--json"}))["recall_at_3"], 1);
  const Outcome predicted = slide_.run({"predict", "r", "t.tsv", "--k", "3"});
  write("s.txt", predicted.out);
  EXPECT_EQ(
      json(slide_.run(Strings{"evaluate", "s.txt", "t.tsv", "--k", "3", "--json"} + set))["recall_at_3"], 1);
  ASSERT_EQ(slide_.run(Strings{"convert", "t.tsv", "o.ft"} + set).code, 0);
  EXPECT_TRUE(file("o.ft").starts_with("__label__music __label__dance the violin\n")) << file("o.ft");
  ASSERT_EQ(slide_.run(Strings{"convert", "t.tsv", "o.xmc", "--set", "text.min_count=1"} + set).code, 0);
  EXPECT_TRUE(file("o.xmc").starts_with("4 5 3\n")) << file("o.xmc");
  EXPECT_EQ(
      json(slide_.run(Strings{"inspect", "t.tsv", "--json", "--set", "text.min_count=1"} + set))["labels"],
      3);
  write("t.ft", "__label__a;b red ball\n__label__c blue ball\n");
  expect_refused(train_on("t.ft", set), {"data.label_separator", "t.ft"});
  write("t.svm", "1 0:1\n2 1:1\n");
  expect_refused(train_on("t.svm", set), {"data.label_separator", "t.svm"});
}

TEST_F(WarningsTest, BlankLinesAreNoSamplesButHaveAnswers) {
  write("t.tsv", "music\tred violin\n\nart\tblue cat\n \n");
  write("t.svm", "1 0:1\n\n# a comment\n1,2 1:1\n\n");
  write("t.csv", "text,tags\nred violin,music\n\nblue cat,art\n\n");
  for (const std::string name : {"t.tsv", "t.svm", "t.csv"}) {
    const Strings more = name == "t.csv" ? columns_ : Strings();
    ASSERT_EQ(train_on(name, more).code, 0) << name;
    const Json tested = json(slide_.run({"test", "r", name, "--k", "1", "--json"}));
    EXPECT_EQ(tested["samples"], 2) << name;
    const Outcome predicted = slide_.run({"predict", "r", name});
    write("s.txt", predicted.out);
    const Json evaluated = json(slide_.run(Strings{"evaluate", "s.txt", name, "--k", "1", "--json"} + more));
    EXPECT_EQ(evaluated["samples"], 2) << name;
    EXPECT_EQ(evaluated["p_at_1"], tested["p_at_1"]) << name;
    ASSERT_EQ(slide_.run({"predict", "r", name, "--json"}).code, 0);
    std::string without;  // who leaves the answers to blank lines out is right, too
    std::size_t row = 0;
    std::istringstream lines(predicted.out);
    for (std::string line; std::getline(lines, line); ++row)
      without += row == 0 || row == 2 ? line + "\n" : "";
    write("two.txt", without);
    EXPECT_EQ(json(slide_.run(Strings{"evaluate", "two.txt", name, "--k", "1", "--json"} + more))["p_at_1"],
              tested["p_at_1"])
        << name;
    write("three.txt", without + "\n");
    expect_refused(slide_.run(Strings{"evaluate", "three.txt", name} + more),
                   {"3 rows of scores for 2 samples"});
  }
}

TEST_F(WarningsTest, NamesOfAllKindsSurviveFromPredictToEvaluate) {
  write("t.jsonl",
        "{\"text\":\"red ball\",\"tags\":[\"http://x/1:2\",\"Paris, France\",\"b \"]}\n"
        "{\"text\":\"blue cat\",\"tags\":[\"1\",\"1:1\",\" rock music\"]}\n"
        "{\"text\":\"green cow\",\"tags\":[\"x=y\",\"nan\",\"{\\\"a\\\": 1}\"]}\n");
  const Strings keys = columns_;
  ASSERT_EQ(train_on("t.jsonl", keys).code, 0);
  const Json tested = json(slide_.run({"test", "r", "t.jsonl", "--k", "3,9", "--json"}));
  for (const Strings& form : {Strings{}, Strings{"--json"}}) {
    write("s.txt", slide_.run(Strings{"predict", "r", "t.jsonl", "--k", "9"} + form).out);
    const Json found =
        json(slide_.run(Strings{"evaluate", "s.txt", "t.jsonl", "--k", "3,9", "--json"} + keys));
    EXPECT_EQ(found["samples"], 3);
    EXPECT_EQ(found["p_at_3"], tested["p_at_3"]);
    EXPECT_EQ(found["recall_at_9"], 1);
  }
  write("t.csv", "text,tags\nred ball,Paris|rock music\nblue cat,rock music\n");
  const Strings bars = keys + Strings{"--set", "data.label_separator=|"};
  write("c.txt", "Paris:0.9\trock music:0.5\nrock music:0.7\n");
  EXPECT_EQ(json(slide_.run(Strings{"evaluate", "c.txt", "t.csv", "--k", "1", "--json"} + bars))["p_at_1"],
            1);
  expect_refused(slide_.run({"evaluate", "c.txt", "t.csv", "--set", "train.epochs=2"}),
                 {"train.epochs", "data.text"});
}

TEST_F(WarningsTest, FirstLinesOfAnyLength) {
  std::string labels = "label0", text;
  for (int i = 1; i < 9000; ++i) labels += fmt::format(",label{:05}", i);
  for (int i = 0; i < 20; ++i) text += fmt::format("label{:05}\tword w{}\n", i, i);
  const std::string whole = labels + "\tbig word\n" + text;
  write("t.tsv", whole);
  EXPECT_NE(json(slide_.run({"inspect", "t.tsv", "--json", "--set", "text.min_count=1"}))["labels"], nullptr);
  write("equals.tsv", "a=b," + whole);  // no configuration
  EXPECT_EQ(slide_.run({"inspect", "equals.tsv", "--set", "text.min_count=1"}).code, 0);
  std::string head = "id,text,tags";
  for (int i = 0; i < 9000; ++i) head += fmt::format(",column{}", i);
  std::string row = "1,red ball,a" + std::string(9000, ',') + "\n";
  write("t.csv", head + "\n" + row + row);
  EXPECT_EQ(slide_.run(Strings{"inspect", "t.csv", "--set", "text.min_count=1"} + columns_).code, 0);
  std::string features = "0";
  for (int i = 1; i < 12000; ++i) features += fmt::format(" {}:1", i);
  write("t.svm", features + "\n1 3:1\n");
  EXPECT_EQ(slide_.run({"inspect", "t.svm"}).code, 0);
}

TEST_F(WarningsTest, WordsThatWouldBecomeLabels) {
  write("t.tsv", "rock music,x\tblue sky __label__evil word\na\tb __label\n");
  expect_refused(slide_.run({"convert", "t.tsv", "o.ft"}), {"t.tsv:1:1: ", "__label__evil"});
  EXPECT_FALSE(exists("o.ft"));
  ASSERT_EQ(slide_.run({"convert", "t.tsv", "o.tsv"}).code, 0);
  EXPECT_EQ(file("o.tsv"), file("t.tsv"));
  write("t.csv", "text,tags\nblue sky,__label__x\n");
  expect_refused(slide_.run(Strings{"convert", "t.csv", "o2.tsv"} + columns_), {"t.csv:2:1: ", "__label__x"});
}

TEST_F(WarningsTest, MeasuresOfNothing) {
  write("t.tsv", "a\tred ball\nb\tblue ball\na\tred cat\n");
  write("other.tsv", "x\tred ball\ny\tblue ball\n");
  write("none.tsv", "\tred ball\n\tblue ball\n");
  const Outcome trained = train_on("t.tsv", {"--test", "other.tsv"});
  EXPECT_TRUE(contains(trained.err, "other.tsv: no sample has a label that the model knows"));
  ASSERT_EQ(train_on("t.tsv").err, "");
  write("same.tsv", file("t.tsv"));
  EXPECT_EQ(slide_.run({"test", "r", "same.tsv"}).err, "");
  EXPECT_TRUE(
      contains(slide_.run({"test", "r", "other.tsv"}).err, "no sample has a label that the model knows"));
  EXPECT_TRUE(contains(slide_.run({"test", "r", "none.tsv"}).err, "none.tsv: no sample has a label,"));
  expect_refused(slide_.run({"test", "r", "none.tsv", "--strict"}), {"none.tsv", "nothing to measure"});
  write("s.svm", "0 0:1\n1 1:1\n");
  write("u.svm", " 0:1\n 1:1\n");
  write("s.txt", "0:0.5\n1:0.5\n");
  EXPECT_EQ(slide_.run({"evaluate", "s.txt", "s.svm"}).err, "");
  EXPECT_TRUE(contains(slide_.run({"evaluate", "s.txt", "u.svm"}).err, "no sample has a label"));
}

TEST_F(WarningsTest, AFirstLookAtData) {
  write("t.csv", "text,tags,who\nred ball,\"a,b\",u\nblue ball,a,v\ngreen cat,\"a,c\",u\nred cat,,w\n");
  const Strings keys = columns_ + Strings{"--set", "text.min_count=1",   "--set", "data.group=who",
                                          "--set", "data.validation=0.5"};
  const Json look = json(slide_.run(Strings{"inspect", "t.csv", "--json"} + keys))["data"];
  EXPECT_EQ(look["form"], "CSV");
  EXPECT_EQ(look["columns"], "text, tags, who");
  EXPECT_EQ(look["samples"], 4);
  EXPECT_EQ(look["unlabelled"], 1);
  EXPECT_EQ(look["labels"], 3);
  EXPECT_EQ(look["labels_once"], 2);
  EXPECT_EQ(look["label_entries"], 5);
  EXPECT_EQ(look["most_frequent"][0]["label"], "a");
  EXPECT_EQ(look["most_frequent"][0]["samples"], 3);
  EXPECT_EQ(look["groups"], 3);
  EXPECT_EQ(look["warnings"], Json::array());
  const Outcome text = slide_.run(Strings{"inspect", "t.csv"} + keys);
  for (const char* part :
       {"form               CSV\n", "columns            text, tags, who\n",
        "labels             3 have samples, 1.2 a sample; 2 occur once; 1 samples have none\n",
        "most frequent      a (3), ", "looks wrong        nothing\n"})
    EXPECT_TRUE(contains(text.out, part));
  write("bars.csv", "text,tags\nred ball,a|b\nblue cat,b\n");
  const Outcome warned =
      slide_.run(Strings{"inspect", "bars.csv", "--json", "--set", "text.min_count=1"} + columns_);
  const Json found = json(warned)["data"]["warnings"];
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(train_on("bars.csv", columns_).err, "slide: warning: " + found[0].get<std::string>() + "\n");
}

}  // namespace
}  // namespace slide::test
