// What newcomers try first: data of another form, a user's name as a file, shares that are no use. Each
// answer says what to do.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class FirstTriesTest : public CliTest {
 protected:
  void write(const std::string& name, const std::string& text) { write_file(slide_.path(name), text); }
  Outcome train(const std::string& data, const Strings& more = {}) {
    return slide_.run(Strings{"train", data, "--out", "r", "--force", "--epochs", "2", "--quiet", "--set",
                              "text.min_count=1"} +
                      more);
  }
};

TEST_F(FirstTriesTest, LabelsBehindTheText) {
  write("t.ft", "f(): a river __label__nature\nthe cello __label__music plays\nred river __label__nature\n");
  for (const Strings& more : {Strings{}, {"--set", "data.format=text"}}) expect_done(train("t.ft", more));
  write("new.ft", "a red river __label__nature\n");
  EXPECT_EQ(Json::parse(expect_done(slide_.run({"test", "r", "new.ft", "--k", "1", "--json"})).out)["p_at_1"],
            1);
  write("none.txt", "ci: fix a river\n");
  EXPECT_TRUE(contains(expect_done(slide_.run({"test", "r", "none.txt"})).err, "no sample has a label"));
  write("log.csv", "id,text\n1,a river\n");
  expect_refused(slide_.run({"test", "r", "log.csv"}), "if this is a table with the columns id, text");
  expect_refused(train("none.txt"),
                 "none.txt:1:1: the format is not clear: this looks like text without labels");
}

}  // namespace
}  // namespace slide::test
