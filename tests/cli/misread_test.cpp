// Files that are read otherwise than meant, by commands that use a model: a table as lines of text, a name
// with blanks as a user and items, one file in place of another. Each is warned of in one line.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

using Strings = std::vector<std::string>;

class MisreadTest : public CliTest {
 protected:
  void write(const std::string& name, const std::string& text) { write_file(slide_.path(name), text); }
  void train(Strings arguments) {
    arguments.insert(arguments.begin(), "train");
    for (const char* more : {"--force", "--quiet", "--epochs", "2", "--set", "text.min_count=1"})
      arguments.emplace_back(more);
    trained_ = slide_.run(arguments);
    ASSERT_EQ(trained_.code, 0) << trained_.err;
  }
  // Two labels by lines of text.
  void train_text() {
    write("t.tsv", "a\tred ball\nb\tblue ball\na\tred cat\nb\tblue sky\n");
    train({"t.tsv", "--out", "r"});
  }
  // Users of a group have four of its five items, all with `user` in front of their names.
  void train_shop(const std::string& user) {
    std::string log = "user,item\n";
    for (int number = 0; number < 30; ++number) {
      for (int item = 0; item < 5; ++item) {
        if (item != number / 6 % 5) log += fmt::format("{}{},i{}-{}\n", user, number, number % 6, item);
      }
    }
    write("log.csv", log);
    train({"log.csv", "--out", "shop", "--set", "data.kind=interactions"});
  }
  // Lines on standard error with all parts.
  static std::ptrdiff_t lines_with(const Outcome& done, const Strings& parts) {
    std::istringstream lines(done.err);
    std::ptrdiff_t count = 0;
    for (std::string line; std::getline(lines, line);)
      count +=
          std::ranges::all_of(parts, [&](const std::string& p) { return line.find(p) != std::string::npos; });
    return count;
  }
  void expect_warned(const Outcome& done, Strings parts) {
    EXPECT_EQ(done.code, 0) << done.err;
    parts.emplace_back("slide: warning: ");
    EXPECT_EQ(lines_with(done, parts), 1) << done.err;
  }
  Outcome recommend(const std::string& users, const Strings& more = {}) {
    Strings arguments = {"recommend", "shop", "--users", "-", "--k", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return slide_.run(arguments, users);
  }

  Outcome trained_;
};

TEST_F(MisreadTest, ATableAsLinesOfText) {
  train_text();
  write("log.csv", "id,text\n1,red ball\n2,\"blue sky\"\n");
  expect_warned(slide_.run({"predict", "r", "log.csv"}),
                {"log.csv:1: ", "a table by its first line", "lines of text"});
  write("log.txt", "\nid;text\n1;red ball\n");
  expect_warned(slide_.run({"predict", "r", "log.txt"}), {"log.txt:2: ", "a table by its first line"});
  write("bare.csv", "red ball\n");
  expect_warned(slide_.run({"predict", "r", "bare.csv"}), {"bare.csv:1: ", "a table by its ending"});
  for (const char* name : {"rows.jsonl", "rows.txt"}) {
    write(name, "red\n{\"foo\": 1}\n{\"foo\": 2}\n");
    const Outcome done = slide_.run({"predict", "r", name});
    expect_warned(done, {fmt::format("{}:2: ", name), "JSON, as 2 of the first 3", "the texts alone"});
    EXPECT_EQ(std::ranges::count(done.out, '\n'), 3);
  }
  expect_warned(slide_.run({"predict", "r", "-"}, "{\"foo\": 1}\n"), {"standard input:1: "});
  EXPECT_EQ(slide_.run({"predict", "r", "log.csv", "--strict"}).code, 2);
  write("plain.txt", "red ball, blue sky\n{x} is red\nthe text, id 5\n");
  for (const char* plain : {"plain.txt", "t.tsv"}) EXPECT_EQ(slide_.run({"predict", "r", plain}).err, "");
}

TEST_F(MisreadTest, TheTrainingFileAsTheTest) {
  train_text();
  std::filesystem::create_symlink("t.tsv", slide_.path("same.tsv"));
  for (const char* name : {"t.tsv", "same.tsv"}) {
    expect_warned(slide_.run({"test", "r", name}), {fmt::format("{}: training reads this file", name)});
    train({"t.tsv", "--out", "r2", "--test", name});
    expect_warned(trained_, {name, "training reads this file"});
  }
  write("other.tsv", "a\tred sky\nb\tblue cat\n");
  EXPECT_EQ(lines_with(slide_.run({"test", "r", "other.tsv"}), {"warning"}), 0);
  train({"t.tsv", "--out", "r2", "--test", "t.tsv", "--set", "data.train_first=2", "data.test_last=2"});
  EXPECT_EQ(trained_.err, "") << "taken apart";
}

TEST_F(MisreadTest, ANameWithBlanksAsAUserAndItems) {
  train_shop("user ");
  expect_warned(recommend("user 3\nuser 66\n"), {"standard input:2: 'user 66'", "as \"user 66\"", "quotes"});
  expect_warned(recommend("user 3 i1-1\n"), {"standard input:1: ", "as \"user 3\" i1-1"});
  for (const char* meant : {"user 3\nnew i1-1 i1-2\n", "\"user 66\" i1-1\n", "user 66,i1-1\n"})
    EXPECT_EQ(lines_with(recommend(meant), {"quotes"}), 0) << meant;
}

TEST_F(MisreadTest, AHeaderAmongUsersIsNamed) {
  train_shop("u");
  expect_warned(recommend("customer\nu3\nu4\n"), {"1 of 3 users", "('customer')"});
  expect_warned(recommend("u3\na\nb\nc\n"), {"3 of 4 users", "('a', 'b', 'c')"});
  EXPECT_EQ(lines_with(recommend("u3\na\nb\nc\nd\n"), {"'a'"}), 0) << "many";
}

TEST_F(MisreadTest, AnotherFileAsTheLogOfUsers) {
  train_shop("u");
  write("t.tsv", "a\tred ball\nb\tblue ball\n");
  const Outcome refused = recommend("u3\n", {"--known", "t.tsv"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(lines_with(refused, {"t.tsv: 0 of 2 items"}), 1) << refused.err;
  expect_warned(recommend("u3 i1-1\n", {"--known", "t.tsv"}), {"t.tsv: 0 of 2 items of its users"});
  EXPECT_EQ(lines_with(recommend("u3\n", {"--known", "log.csv"}), {"warning"}), 0);
  train({"t.tsv", "--init", "shop", "--out", "more"});
  expect_warned(trained_, {"t.tsv: is read as interactions", "shop", "2 of its 2 items are new"});
  train({"log.csv", "--init", "shop", "--out", "more"});
  EXPECT_EQ(trained_.err, "");
}

TEST_F(MisreadTest, FewItemsWithATitle) {
  train_shop("u");
  write("titles", "i1-1\tOne\nother\tTwo\n");
  const Outcome done = recommend("u3\n", {"--titles", "titles"});
  EXPECT_EQ(lines_with(done, {"titles: 1 of 30 items has a title"}), 1) << done.err;
}

TEST_F(MisreadTest, TitlesOfAnotherFile) {
  std::string log, items;
  for (int user = 0; user < 20; ++user) {
    for (int item = 0; item < 4; ++item)
      log += fmt::format("{}\t{}\t3\t{}\n", user, (user + item) % 8, 1600208000 + item);
  }
  for (int item = 0; item < 8; ++item) items += fmt::format("{}|{}|M\n", item, 20 + item % 3);
  write("log", log);
  train({"log", "--out", "shop"});
  write("users", items);
  write("names", "0|1917\n1|The Birds\n2|Tea\n3|Jam\n");
  write("events", "0,ann\n0,bob\n1,ann\n0,cid\n1,bob\n1,ann\n");
  for (const char* file : {"log", "users"}) {
    expect_warned(recommend("3\n", {"--titles", file}),
                  {fmt::format("titles of --titles {} look like numbers", file)});
    expect_warned(slide_.run({"similar", "shop", "3", "--titles", file}), {"look like numbers"});
    EXPECT_EQ(recommend("3\n", {"--titles", file, "--strict"}).code, 2);
  }
  expect_warned(recommend("3\n", {"--titles", "events"}),
                {"titles of --titles events change from line to line"});
  EXPECT_EQ(lines_with(recommend("3\n", {"--titles", "names"}), {"warning"}), 0);
}

TEST_F(MisreadTest, ANameWithQuotesIsAUser) {
  std::string log = "user,item\n";
  for (int user = 0; user < 12; ++user) {
    for (int item = 0; item < 5; ++item) {
      if (item != user % 5)
        log +=
            fmt::format("{},i{}\n", user == 3 ? "\"O'Brien \"\"Bob\"\"\"" : fmt::format("u{}", user), item);
    }
  }
  write("log.csv", log);
  train({"log.csv", "--out", "shop", "--set", "data.kind=interactions"});
  const Outcome all = slide_.run({"recommend", "shop", "--k", "1"});
  EXPECT_TRUE(contains(all.out, "O'Brien \"Bob\"\ti3\t")) << all.out;
  const Outcome asked = recommend("O'Brien \"Bob\"\n");
  EXPECT_TRUE(asked.out.starts_with("O'Brien \"Bob\"\ti3\t")) << asked.out << asked.err;
}

TEST_F(MisreadTest, ListsWithAnotherSeparatorInSomeLines) {
  std::string lists;
  for (int user = 0; user < 30; ++user) {
    const char part = user == 7 || user == 9 ? ';' : ',';
    lists += fmt::format("u{}", user);
    for (int item = 0; item < 3 + user % 3; ++item) lists += fmt::format("{}i{}", part, (user + item) % 9);
    lists += '\n';
  }
  write("lists.txt", lists);
  train({"lists.txt", "--out", "r", "--set", "data.kind=interactions"});
  expect_warned(trained_, {"lists.txt:8: ", "as 2 lines are", "another separator"});
  std::ranges::replace(lists, ';', ',');
  write("lists.txt", lists);
  train({"lists.txt", "--out", "r", "--set", "data.kind=interactions"});
  EXPECT_EQ(trained_.err, "");
}

// A model of texts reads files of features, too.
TEST_F(MisreadTest, DataOfAnotherModelForAModelOfTexts) {
  train_text();
  write("f.xmc", "3 100 5\n1 3:1 50:2\n1 2:1 60:1\n0 1:1 70:1 80:1\n");
  const std::string most = "unknown are 4 features, as often as they occur, which is most of the features";
  for (const char* command : {"test", "predict"}) {
    expect_warned(slide_.run({command, "r", "f.xmc"}), {"f.xmc: ", most});
    EXPECT_EQ(slide_.run({command, "r", "f.xmc", "--strict"}).code, 2) << command;
  }
  expect_warned(slide_.run({"test", "r", "-"}, file("f.xmc")), {"standard input: ", most});
}

TEST_F(MisreadTest, TextsWithoutAKnownWord) {
  train_text();
  write("unk.tsv", "a\tone two\nb\tthree\na\tred\n");
  expect_warned(slide_.run({"test", "r", "unk.tsv"}), {"unk.tsv: 2 of 3 samples have no feature"});
  test::expect_refused(slide_.run({"test", "r", "unk.tsv", "--strict"}), "2 of 3 samples");
  train({"t.tsv", "--out", "r2", "--test", "unk.tsv"});
  expect_warned(trained_, {"unk.tsv: 2 of 3 samples have no feature"});
  write("few.tsv", "a\tone two three four five red\nb\tblue\nb\tsix\n");
  EXPECT_EQ(lines_with(slide_.run({"test", "r", "few.tsv"}), {"warning"}), 0) << "unknown words are ordinary";
}

TEST_F(MisreadTest, TextsToPredictWithoutAKnownWord) {
  train_text();
  write("unk.txt", "one two\n\nthree\nred\n");
  expect_warned(slide_.run({"predict", "r", "unk.txt"}), {"unk.txt: 2 of 3 samples have no feature"});
  expect_warned(slide_.run({"predict", "r", "-"}, "one\ntwo\n"), {"standard input: 2 of 2 samples"});
  EXPECT_EQ(slide_.run({"predict", "r", "unk.txt", "--strict"}).code, 2);
  write("few.txt", "one red\n\n\nblue\nsix\n");
  EXPECT_EQ(slide_.run({"predict", "r", "few.txt"}).err, "");
  write("t.csv", "text,tags\nred ball,a\nblue ball,b\n");
  train({"t.csv", "--out", "r2", "--set", "data.text=text", "data.labels=tags"});
  write("new.csv", "id,text\n1,one\n2,\n3,red\n");
  expect_warned(slide_.run({"predict", "r2", "new.csv"}), {"new.csv: 2 of 3 samples have no feature"});
}

TEST_F(MisreadTest, PredictionsAsData) {
  train_text();
  const std::string looks = ":1: these look like predictions";
  for (const Strings& form : {Strings{}, {"--json"}, {"--k", "1"}}) {
    std::string texts;
    for (int line = 0; line < 3; ++line) texts += "red ball\nblue sky\n";
    Strings command = {"predict", "r", "-"};
    command.insert(command.end(), form.begin(), form.end());
    write("p.txt", slide_.run(command, texts).out);
    test::expect_refused(slide_.run({"predict", "r", "p.txt"}), "p.txt" + looks);
    test::expect_refused(slide_.run({"predict", "r", "-"}, file("p.txt")), "standard input" + looks);
    EXPECT_EQ(slide_.run({"predict", "r", "p.txt", "--format", "text"}).code, 0);
  }
  write("p.txt", "a:0.9\tb:0.1\nb:0.8\ta:0.7\n");
  expect_warned(slide_.run({"inspect", "p.txt", "--set", "text.min_count=1"}), {"p.txt" + looks});
  write("u.txt", "ann\ttea:0.9\tjam:0.1\nbob\ttea:0.8\n");
  expect_warned(slide_.run({"inspect", "u.txt", "--set", "text.min_count=1"}), {"u.txt" + looks});
  write("ids.txt", "3:0.9 1:0.5 2:0.1\n2:0.9 3:0.8 1:0.1\n");
  expect_warned(slide_.run({"inspect", "ids.txt"}), {"ids.txt" + looks});
  write("f.svm", "0 1:0.5 2:1\n1 3:1\n0 2:1\n");
  train({"f.svm", "--out", "f"});
  EXPECT_EQ(trained_.err, "");
  expect_warned(slide_.run({"predict", "f", "ids.txt"}), {"ids.txt" + looks});
  write("data.txt", "9 1:0.9 2:0.5 3:0.1\n7 1:0.8 2:0.7 3:0.1\n");
  EXPECT_EQ(slide_.run({"inspect", "data.txt"}).err, "");
  write("text.txt", "at 10:0.5 or so\nthe ratio is a:0.7\tb\n");
  EXPECT_EQ(lines_with(slide_.run({"predict", "r", "text.txt"}), {"predictions"}), 0);
}

TEST_F(MisreadTest, NoSampleToEvaluate) {
  train_shop("u");
  train({"log.csv", "--out", "held", "--set", "data.kind=interactions", "data.time=order",
         "data.test_newest=100"});
  expect_warned(trained_, {"log.csv: there is no sample to evaluate", "nothing to measure"});
  const Outcome strict = slide_.run({"train", "log.csv", "--out", "held", "--force", "--strict", "--set",
                                     "data.kind=interactions", "data.time=order", "data.test_newest=100"});
  test::expect_refused(strict, "log.csv: there is no sample to evaluate");
}

TEST_F(MisreadTest, AnEmptyFile) {
  train_text();
  train_shop("u");
  write("empty", "");
  const Strings commands[] = {{"predict", "r", "empty"}, {"recommend", "shop", "--users", "empty"}};
  for (Strings command : commands) {
    expect_warned(slide_.run(command), {"empty: the file is empty"});
    command.emplace_back("--strict");
    test::expect_refused(slide_.run(command), "empty: the file is empty");
  }
}

TEST_F(MisreadTest, ANameWithTheSeparatorOfItsLog) {
  std::string log = "user,item\n";
  for (int user = 0; user < 30; ++user) {
    for (int item = 0; item < 5; ++item) {
      if (item != user / 6 % 5) log += fmt::format("\"Lee, Ann {}\",i{}-{}\n", user, user % 6, item);
    }
  }
  log += "\"Lee,Bob\",i1-1\n";
  write("log.csv", log);
  train({"log.csv", "--out", "shop", "--set", "data.kind=interactions"});
  const std::string names = "Lee, Ann 3\r\nLee,Bob\nLee, Ann 7\n";
  const Outcome asked = recommend(names);
  EXPECT_EQ(asked.out, recommend("\"Lee, Ann 3\"\n\"Lee,Bob\"\n\"Lee, Ann 7\"\n").out);
  EXPECT_TRUE(asked.out.starts_with("Lee, Ann 3\t")) << asked.out;
  EXPECT_TRUE(contains(asked.out, "\nLee,Bob\t")) << asked.out;
}

TEST_F(MisreadTest, AllColumnsOfALogAreShown) {
  write("log.csv", "uid,film,stars,timestamp,channel\n1,2,3,964982703,a\n1,3,4,964982704,b\n");
  const Outcome shown = slide_.run({"inspect", "log.csv", "--set", "data.kind=interactions", "data.user=uid",
                                    "data.item=film", "data.weight=stars", "text.min_count=1"});
  for (const char* part :
       {"columns            users by uid", "weights by stars", "by timestamp", "channel\n"})
    EXPECT_TRUE(contains(shown.out, part)) << shown.out << shown.err;
}

}  // namespace
}  // namespace slide::test
