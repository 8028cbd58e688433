// Logs of interactions as public sets have them, on the command line: what trains as it is, what does not
// depend on the order of lines, recommendations with their users, and heavy users.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class LogFilesTest : public CliTest {
 protected:
  Outcome train(const std::string& text, std::vector<std::string> set = {}, const std::string& out = "run") {
    write_file(slide_.path("log"), text);
    std::vector<std::string> arguments = {"train", "log", "--epochs", "1", "--force", "--out", out, "--set"};
    set.insert(set.begin(), "data.kind=interactions");
    arguments.insert(arguments.end(), set.begin(), set.end());
    return slide_.run(arguments);
  }
  Json start() const { return events_of(read_file(slide_.path("run/metrics.jsonl"))).front(); }
};

TEST_F(LogFilesTest, PublicSetsTrainAsTheyAre) {
  // Of three users with three items, the newest of two.
  struct Form {
    const char* head;
    std::string line;  // of user, item, rating and time
  };
  const Form forms[] = {
      {"", "{0}\t{1}\t{2}\t{3}\n"},
      {"", "{0}::{1}::{2}::{3}\n"},
      {"userId,movieId,rating,timestamp\n", "{0},{1},{2}.0,{3}\n"},
      {"user_id:token\titem_id:token\trating:float\ttimestamp:float\n", "{0}\t{1}\t{2}\t{3}\n"},
      {"timestamp,visitorid,event,itemid,transactionid\n", "{3}000,{0},view,{1},\n"},
      {",user,item,rating,timestamp\n", "7,{0},{1},{2},{3}\n"}};
  for (const Form& form : forms) {
    std::string log = form.head;
    for (int user = 1; user < 4; ++user) {
      for (int item = 0; item < 3; ++item)
        log +=
            fmt::format(fmt::runtime(form.line), user, 100 + (user + item) % 4, item + 1, 978300000 - item);
    }
    const Outcome done = train(log, {"data.test_newest=true"});
    ASSERT_EQ(done.code, 0) << log << done.err;
    EXPECT_EQ(start()["samples"], 3) << log;
    EXPECT_EQ(start()["labels"], 4) << log;
    EXPECT_EQ(start()["test_samples"], 3) << log;
  }
}

// A header that names users and items beyond doubt needs no key, whatever columns are beside them.
TEST_F(LogFilesTest, AWideHeaderIsRecognised) {
  const auto train_as_it_is = [&](const std::string& head) {
    std::string log = head + "\n";
    for (int user = 1; user < 4; ++user) {
      for (int item = 0; item < 3; ++item)
        log += fmt::format("u{},i{},{},{},web\n", user, (user + item) % 4, item + 1, 978300000 - item);
    }
    write_file(slide_.path("log"), log);
    return slide_.run({"train", "log", "--epochs", "1", "--force", "--out", "run"});
  };
  const Outcome done = expect_done(train_as_it_is("user_id,item_id,rating,timestamp,channel"));
  EXPECT_TRUE(contains(done.out,
                       "/log is read as interactions: users by user_id, items by item_id, weights by rating, "
                       "times by timestamp; not read: channel\n"));
  EXPECT_TRUE(contains(done.out, "training 1 epoch, "));
  EXPECT_EQ(start()["samples"], 3);
  const Outcome look = expect_done(slide_.run({"inspect", "log", "--json"}));
  EXPECT_TRUE(
      contains(look.out,
               "\"users by user_id, items by item_id, weights by rating, times by timestamp; not read: "
               "channel\""));
  expect_refused(train_as_it_is("user_id,item_id,rating,timestamp,review_text"),
                 "set data.kind=interactions");
}

TEST_F(LogFilesTest, InspectTellsOfUnreadColumnsWithoutAHeader) {
  write_file(slide_.path("log"), "1\t2\t1600208000\t5\n1\t3\t1600208001\t4\n2\t2\t1600208002\t4\n");
  const Outcome look =
      expect_done(slide_.run({"inspect", "log", "--json", "--set", "data.user=1", "data.time=3"}));
  EXPECT_EQ(Json::parse(look.out)["data"]["columns"],
            "users by column 1, items by column 2, times by column 3; not read: column 4");
}

// Numbers in columns between TABs and '::' are a log as between commas.
TEST_F(LogFilesTest, ColumnsOfNumbersAreRecognised) {
  for (const char* part : {",", " ", "\t", "::", ";", "|"}) {
    for (const int columns : {2, 3, 4}) {
      std::string log;
      for (int line = 0; line < 40; ++line) {
        const int values[] = {line % 7 + 20, line % 13 + 100, 1600208000 + line, line % 5 + 1};
        for (int column = 0; column < columns; ++column)
          log += fmt::format("{}{}", column > 0 ? part : "",
                             columns == 3 && column == 2 ? values[3] : values[column]);
        log += '\n';
      }
      write_file(slide_.path("log"), log);
      const Json look = Json::parse(expect_done(slide_.run({"inspect", "log", "--json"})).out)["data"];
      EXPECT_EQ(look["form"], "user item [weight [time]]") << log.substr(0, 40);
      EXPECT_EQ(look["samples"], 7) << log.substr(0, 40);
      EXPECT_EQ(look["warnings"], Json::array()) << log.substr(0, 40);
    }
  }
}

TEST_F(LogFilesTest, DataThatAreNothingSayWhatTheyMayBe) {
  const auto refused = [&](const std::string& text, const std::string& part) {
    write_file(slide_.path("log"), text);
    expect_refused(slide_.run({"train", "log", "--out", "run"}), part);
  };
  refused("when,stars_given,who,thing\n1600208000,2,u1,i1\n2024-05-01 12:30,2,u2,i1\n",
          "by data.user and data.item");
  refused("a::b::5\nc::d::5\n", "with '::' between its columns, set data.kind=interactions");
  refused("10.0.0.0 - - [29/Nov/2026:12:00:01 +0000] \"GET /p0 HTTP/1.1\" 200 0\n",
          "log:1:1: the format is not clear: neither");
  refused("Nov 29 12:00:01 host sshd[0]: Accepted\n",
          "log:1:1: the format is not clear: this looks like text without labels");
  refused("{\"user\": \"a\", \"item\": \"x\"}\n{\"user\": \"b\", \"item\": \"x\"}\n", "jq -r");
  refused("0 3:x\n", "log:1:5: the value 'x' is no number");
  write_file(slide_.path("log"), "id,what,note\n1,a,some words here\n");
  EXPECT_FALSE(contains(slide_.run({"train", "log", "--out", "run"}).err, "data.user"));
}

// Ties of times are not broken by the place in the file.
TEST_F(LogFilesTest, TheOrderOfLinesChangesNoModel) {
  std::vector<std::string> lines;
  for (int i = 0; i < 600; ++i)
    lines.push_back(
        fmt::format("{},{},{},{}\n", i * 7919 % 61, 1000 + i * 104729 % 37, i % 5 + 1, 978300000 + i % 7));
  std::string first;
  for (const auto& order : {0, 1, 2}) {
    if (order == 1) std::ranges::sort(lines);
    if (order == 2) std::ranges::reverse(lines);
    std::string log;
    for (const std::string& line : lines) log += line;
    ASSERT_EQ(train(log, {"data.test_newest=true"}).code, 0);
    const std::string model = read_file(slide_.path("run/model.slide"));
    if (first.empty()) first = model;
    EXPECT_TRUE(model == first) << order;
  }
}

TEST_F(LogFilesTest, RecommendationsNameTheirUsers) {
  ASSERT_EQ(train("ann,green tea,5\nann,\"jam, hot\",4\nbob,green tea,1\nbob,rice,2\ncid,rice,3\n").code, 0);
  const Outcome text =
      expect_done(slide_.run({"predict", "run", "-", "--k", "1"}, "zed,rice,3\nann,rice,2\n"));
  EXPECT_EQ(text.out.substr(0, 4), "zed\t") << text.out;
  EXPECT_EQ(text.out.substr(text.out.find('\n') + 1, 4), "ann\n") << text.out;  // she has all there is
  const Outcome json = expect_done(slide_.run({"predict", "run", "-", "--json"}, "cid\n"));
  const Json answer = Json::parse(json.out);
  EXPECT_EQ(answer["user"], "cid");
  EXPECT_EQ(answer["predictions"].size(), 2U) << "rice, which the training log has, is left out";
  EXPECT_TRUE(contains(json.out, "\"jam, hot\""));
  expect_done(slide_.run({"predict", "run", "-", "--out", "scores.npz"}, "zed,rice,3\nann,rice,2\n"));
  const std::string bytes = read_file(slide_.path("scores.npz"));
  EXPECT_TRUE(contains(bytes, "users.npy"));
}

TEST_F(LogFilesTest, PredictLooksUsersUpAsTestDoes) {
  ASSERT_EQ(train("1 10 5\n1 20 3\n2 20 4\n2 30 4\n3 10 1\n3 30 2\n").code, 0);
  const Outcome known = expect_done(slide_.run({"predict", "run", "-", "--k", "3"}, "1\n"));
  EXPECT_EQ(known.out.substr(0, 5), "1\t30:") << known.out;
  EXPECT_EQ(std::ranges::count(known.out, ':'), 1);
  // Lines of as many fields as those of training are pairs, others lists.
  const Outcome list = slide_.run({"predict", "run", "-", "--k", "3"}, "new 10 20 30\n");
  EXPECT_EQ(list.out, "new\n") << list.err;
  const Outcome pair = slide_.run({"predict", "run", "-", "--k", "3"}, "new 10 20\n");
  EXPECT_EQ(std::ranges::count(pair.out, ':'), 2) << pair.out;
  write_file(slide_.path("other.txt"), "1 30 5\n1 10 5\n");
  const Outcome other = slide_.run({"predict", "run", "-", "--known", "other.txt"}, "1\n");
  EXPECT_EQ(other.out.substr(0, 5), "1\t20:") << other.out << other.err;
  write_file(slide_.path("log"), "");
  ASSERT_EQ(std::remove(slide_.path("log").c_str()), 0);
  const Outcome gone = expect_done(slide_.run({"predict", "run", "-", "--k", "3"}, "1 10 5\n"));
  EXPECT_TRUE(contains(gone.err, "is not there, so users are not looked up"));
  EXPECT_EQ(slide_.run({"predict", "run", "-", "--known", "none.txt"}, "1\n").code, 2);
}

TEST_F(LogFilesTest, DoubtIsOneLine) {
  const Outcome done = expect_done(train("1,10,5\n2,20,3\n3,10,1\n"));
  EXPECT_EQ(std::ranges::count(done.err, '\n'), 1) << done.err;
  EXPECT_TRUE(contains(done.err, "set data.log=pairs"));
  EXPECT_EQ(train("1,10,5\n2,20,3\n3,10,1\n", {"data.log=lists"}).err, "");
  expect_refused(train("who,what\na,x\na,y\nb,x\n", {"data.user=who", "data.item=which"}),
                 "there is no column 'which', which data.item names; the columns are who, what");
}

}  // namespace
}  // namespace slide::test
