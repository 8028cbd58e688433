// How logs of interactions are read: columns by names and by what they hold, whatever the order of lines;
// fields with quotes and blanks; times; what is refused and what is warned of.
#include "datasets/formats/log_layout.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "datasets/formats/detect.h"
#include "datasets/formats/held_out.h"
#include "datasets/formats/interactions.h"
#include "datasets/rows/csr_sink.h"
#include "datasets/rows/read_report.h"
#include "datasets/text/text_model.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

using Strings = std::vector<std::string>;

ReadOptions log_options(const LogOptions& log = {}) {
  ReadOptions options;
  options.format = DataFormat::kInteractions;
  options.normalize = false;
  options.threads = 2;
  options.log = log;
  return options;
}

// "user: item=weight ... newest item" of each user, and the warnings.
struct Read {
  Strings users, warnings;
  bool knows_newest = false;
};

Read read(std::string_view text, const LogOptions& log = {}, std::size_t chunk_bytes = kDefaultChunkBytes) {
  TextOptions all;
  all.min_count = 1;
  ReadOptions options = log_options(log);
  const auto items = learn_items({text, "log"}, options, all, chunk_bytes);
  LogUsers users;
  ReadReport report;
  options.users = &users;
  options.report = &report;
  options.log.hold_out.newest = 1;
  MemorySink sink;
  const CsrSizes sizes = parse_interactions({text, "log"}, *items, options, sink, chunk_bytes);
  const Dataset data = sink.take(sizes, {});
  Read result;
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::string row = fmt::format("{}:", users.name(i));
    const SparseRow features = data.features(i);
    for (std::size_t f = 0; f < features.ids.size(); ++f)
      row += fmt::format(" {}={}", items->label_name(features.ids[f]), features.values[f]);
    if (users.knows_newest() && !users.held_out(i).empty())
      row += fmt::format(" newest {}", items->label_name(users.held_out(i).front()));
    result.users.push_back(row);
  }
  std::ranges::sort(result.users);
  result.warnings = report.warnings;
  result.knows_newest = users.knows_newest();
  return result;
}

std::string fault_of(std::string_view text, const LogOptions& log = {}) {
  return input_error([&] { read(text, log); });
}

LogOptions columns(const std::string& user, const std::string& item, const std::string& weight = "",
                   const std::string& time = "") {
  LogOptions log;
  log.user = user;
  log.item = item;
  log.weight = weight;
  log.time = time;
  return log;
}

// All orders of the lines behind the first `head` ones.
void same_in_any_order(const std::string& text, std::size_t head, const LogOptions& log = {}) {
  Strings lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  const Read expected = read(text, log);
  const auto body = lines.begin() + static_cast<std::ptrdiff_t>(head);
  std::sort(body, lines.end());
  do {
    std::string changed;
    for (const std::string& line : lines) changed += line + "\n";
    const Read now = read(changed, log);
    ASSERT_EQ(now.users, expected.users) << changed;
    ASSERT_EQ(now.warnings.size(), expected.warnings.size()) << changed;
  } while (std::next_permutation(body, lines.end()));
}

TEST(LogLayout, ColumnsAreKnownByTheirNames) {
  const Strings rows = {"u1: i1=5 newest i1", "u2: i2=3 newest i2"};
  for (const char* text :
       {"userId,movieId,rating,timestamp\nu1,i1,5,100\nu2,i2,3,7\n",
        "timestamp,rating,item_id,user_id\n100,5,i1,u1\n7,3,i2,u2\n",
        "user_id:token\titem_id:token\trating:float\ttimestamp:float\nu1\ti1\t5\t100\nu2\ti2\t3\t7\n",
        "\"User-ID\";\"ISBN\";\"Book-Rating\";\"Date\"\n\"u1\";\"i1\";\"5\";\"2024-05-31\"\n"
        "\"u2\";\"i2\";\"3\";\"2023-01-01\"\n",
        "reviewerID,asin,reviewText,overall,unixReviewTime\nu1,i1,\"good, really\",5.0,100\nu2,i2,,3,7\n",
        ",user,item,rating,timestamp\n0,u1,i1,5,100\n1,u2,i2,3,7\n",
        "user::item::rating::time\nu1::i1::5::100\nu2::i2::3::7\n"}) {
    const Read log = read(text);
    EXPECT_EQ(log.users, rows) << text;
    EXPECT_TRUE(log.knows_newest) << text;
    EXPECT_EQ(log.warnings, Strings()) << text;
  }
  const Read once = read("userId,movieId,rating\nu1,i1,5\nu2,i2,3\n");
  EXPECT_EQ(once.users, (Strings{"u1: i1=5", "u2: i2=3"}));
  EXPECT_FALSE(once.knows_newest);
}

TEST(LogLayout, UnreadColumnsAreWarnedOfWhereAllLinesWeighOne) {
  const Read log = read(
      "timestamp,visitorid,event,itemid,transactionid\n1433221332117,1,view,10,\n1433224214164,1,view,20,\n");
  EXPECT_EQ(log.users, (Strings{"1: 10=1 20=1 newest 20"}));
  ASSERT_EQ(log.warnings.size(), 1U);
  EXPECT_TRUE(contains(log.warnings[0], "event, transactionid are not read"));
  LogOptions unweighted;
  unweighted.weight = "none";
  EXPECT_EQ(read("user,item,event\na,x,view\n", unweighted).warnings, Strings());
}

TEST(LogLayout, UnreadColumnsAreToldOfByTheirNumbers) {
  const std::string log = "1\t2\t1600208000\t5\n1\t3\t1600208001\t4\n";
  EXPECT_EQ(describe_columns(log, columns("1", "2", "", "3")),
            "users by column 1, items by column 2, times by column 3; not read: column 4");
  EXPECT_EQ(describe_columns(log, columns("2", "1")),
            "users by column 2, items by column 1; not read: column 3, column 4");
  EXPECT_EQ(describe_columns(log, columns("1", "2", "4", "3")), "");
  EXPECT_EQ(describe_columns(log, {}), "") << "all are read";
}

TEST(LogLayout, NamesOfColumnsStandOnce) {
  const auto warnings = [](std::string_view text) { return read(text).warnings; };
  for (const char* text : {"user,item\na,x\na,y\nuser,item\nb,x\n",
                           "user,item\r\na,x\r\na,y\r\nuser,item\r\n", "\nuser,item\na,x\nuser,item"}) {
    ASSERT_EQ(warnings(text).size(), 1U) << text;
    EXPECT_TRUE(contains(warnings(text)[0], "log:4: the names of the columns stand here once more"));
  }
  EXPECT_EQ(warnings("user,item\na,x\na,y\nuser,items\nuser,x\n"), Strings());
}

TEST(LogLayout, WholeNumbersAsDecimalsAreDoubtful) {
  for (const char* text :
       {"user,item\n1.0,a\n1.0,b\n2.0,a\n", "user,item\na,1.0\na,20.0\n", "1.0 a\n1.0 b\n2.0 a\n"}) {
    ASSERT_EQ(read(text).warnings.size(), 1U) << text;
    EXPECT_TRUE(contains(read(text).warnings[0], "whole numbers that became decimals, '1.0'"));
  }
  EXPECT_EQ(read("ann tea jam\nbob\n").warnings, Strings());
  EXPECT_NE(fault_of("item,rating,user\nx,1,a\nx\n"), "") << "a line without a user";
  EXPECT_EQ(read("user,item,rating\n1,a,1.0\n1,b,2.0\n2,1.0,3.0\n").warnings, Strings());
}

TEST(LogLayout, TimesAndWeightsInEachOthersPlaceAreDoubtful) {
  std::string log = "user,item,rating,timestamp\n", ratings = "user,item,timestamp\n";
  for (int line = 0; line < 30; ++line) {
    log += fmt::format("u{},i{},{},{}\n", line % 7, line % 11, line % 5 + 1, 1600208000 + line);
    ratings += fmt::format("u{},i{},{}\n", line % 7, line % 11, line % 5 + 1);
  }
  EXPECT_EQ(read(log).warnings, Strings());
  const auto warned = [](const std::string& text, const LogOptions& columns, const Strings& parts) {
    const Strings warnings = read(text, columns).warnings;
    ASSERT_EQ(warnings.size(), 1U) << parts.front();
    for (const std::string& part : parts) EXPECT_TRUE(contains(warnings[0], part));
  };
  warned(ratings, {}, {"log: the times look like ratings, 5 different ones from 1 to 5", "data.weight"});
  warned(log, columns("", "", "timestamp", "rating"),
         {"the weights look like times since 1970, near 16002", "and the times like ratings"});
  warned(log, columns("", "", "timestamp", "none"), {"the weights look like times", "data.time"});
  EXPECT_EQ(read(ratings, columns("", "", "timestamp", "none")).warnings, Strings());
  EXPECT_EQ(read("user,item,timestamp\na,x,1\na,y,2\nb,x,3\n").warnings, Strings()) << "each another";
}

TEST(LogLayout, NamesHoldNoTab) {
  for (const char* text :
       {"user,item\na\tb,x\na,y\n", "user,item\n\"a\tb\",x\na,y\n", "user;item\na;x\tb\na;y\n"})
    EXPECT_TRUE(contains(fault_of(text), "a name with a TAB in it")) << text;
  EXPECT_EQ(read("user,item,note\na,x,\tb\tc\na\t,\ty,d\n").users, (Strings{"a: x=1 y=1"}));
}

TEST(LogLayout, FilesWithoutTextAreNoLogs) {
  using namespace std::string_view_literals;
  EXPECT_TRUE(contains(fault_of("PK\x03\x04\n\0\0a,b\n"sv), "log:1:1: this is a zip archive"));
  EXPECT_TRUE(contains(fault_of("a,b\0\na,c\n"sv), "log:1:1: this is binary data"));
  EXPECT_TRUE(contains(fault_of("a\0,\0b\0\n\0a\0,\0c\0\n\0"sv), "this is text in UTF-16"));
  EXPECT_EQ(read("PAR1,b\nPAR1,c\n").users.size(), 1U) << "a name";
}

TEST(LogLayout, WhatCanOnlyBeATimeIsOne) {
  const Strings rows = {"u: a=1 b=1 newest a", "v: c=1 newest c"};
  EXPECT_EQ(read("u,a,978302000\nu,b,978301000\nv,c,978300000\n").users, rows);
  EXPECT_EQ(read("u a 1433221332117\nu b 1433221332116\nv c 1433221332115\n").users, rows);
  EXPECT_EQ(read("u,a,2024-05-31\nu,b,2024-05-30\nv,c,2023-01-01\n").users, rows);
  EXPECT_EQ(read("u,a,2024-05-31T10:00:00Z\nu,b,2024-05-31 09:59:59.5\nv,c,2023-01-01\n").users, rows);
  EXPECT_EQ(read("u,a,2024-05-31T10:00:00-01:00\nu,b,2024-05-31T10:30:00+00:00\nv,c,2023-01-01\n").users,
            rows);
  EXPECT_EQ(read("u\ta\t2\t978302000\nu\tb\t3\t978301000\n").users, (Strings{"u: a=2 b=3 newest a"}));
  EXPECT_EQ(read("u\ta\t978302000\t2\nu\tb\t978301000\t3\n").users, (Strings{"u: a=2 b=3 newest a"}));
  EXPECT_EQ(read("u,a,5\nu,b,3\n").users, (Strings{"u: a=5 b=3"}));  // ratings
  EXPECT_TRUE(
      contains(fault_of("u,a,1,2024-05-31\nu,b,1,May 5\nu,c,1,2024-02-01\n"), "log:2:7: 'May 5' is no time"));
}

TEST(LogLayout, DatesAreSecondsOfTheirDays) {
  EXPECT_EQ(date_in_field("1970-01-02"), 86400);
  EXPECT_EQ(date_in_field("2000/02/29 00:00"), 951782400);
  EXPECT_EQ(date_in_field("2014-04-07T10:51:09.25Z"), 1396867869.25);
  EXPECT_EQ(date_in_field("2014-04-07T10:51:09+02"), 1396860669);
  for (const char* none :
       {"2014-13-01", "2014-02-30", "2014-04", "12345678", "2014-04-07x", "2014-04-07 25:00"})
    EXPECT_EQ(date_in_field(none), std::nullopt) << none;
}

TEST(LogLayout, RatingsOfUsersWithOneLineEachAreNoItems) {
  EXPECT_EQ(read("u1,i1,5\nu2,i2,3\nu3,i1,1\n").users, (Strings{"u1: i1=5", "u2: i2=3", "u3: i1=1"}));
  const Read numbers = read("1,10,5\n2,20,3\n");
  EXPECT_EQ(numbers.users, (Strings{"1: 10=1 5=1", "2: 20=1 3=1"}));
  ASSERT_EQ(numbers.warnings.size(), 1U);
  EXPECT_TRUE(contains(numbers.warnings[0], "set data.log=pairs"));
  LogOptions pairs;
  pairs.form = LogForm::kPairs;
  EXPECT_EQ(read("1,10,5\n2,20,3\n", pairs).users, (Strings{"1: 10=5", "2: 20=3"}));
  LogOptions lists;
  lists.form = LogForm::kLists;
  EXPECT_EQ(read("1,10,5\n1,20,3\n", lists).users, (Strings{"1: 10=1 20=1 3=1 5=1"}));
  EXPECT_EQ(read("u b c\nu a d\n").users, (Strings{"u: a=1 b=1 c=1 d=1"}));  // names are no weights
}

TEST(LogLayout, TheOrderOfLinesChangesNothing) {
  same_in_any_order("userId,movieId,rating\nu1,i1,5\nu2,i2,3\nu3,i1,1\nu4,i3,2\n", 1);
  same_in_any_order("1 10 5 100\n2 10 4 100\n1 20 1 100\n3 30 2 90\n3 5 1 95\n", 0);
  same_in_any_order("u a b c\nv a\nw c\nx d e\n", 0);
  same_in_any_order("u a\nv a\nu b a\nw c\n", 0);
  same_in_any_order("1\t10\t3\t4\n2\t10\t1\t2\n1\t30\t1\t2\n3\t10\t1\t2\n", 0);
}

// A form that the first bytes do not tell.
TEST(LogLayout, AllLinesDecide) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += fmt::format("user{} item{} {}\n", i, i % 50, i % 5 + 1);
  const Read log = read(text);
  EXPECT_EQ(log.users.front(), "user0: item0=1");
  text.clear();
  for (int i = 0; i < 60000; ++i) text += fmt::format("{} {} {}\n", i, i % 50 + 100, i % 5 + 1);
  text += "0 149 2\n";  // a user's second line, behind the first MiB
  ASSERT_LT(text.size(), std::size_t{1} << 20);
  const Read pairs = read(text, {}, 4096);
  EXPECT_EQ(pairs.users.front(), "0: 149=2 100=1");
  EXPECT_EQ(pairs.warnings, Strings());
}

TEST(LogLayout, FieldsMayHaveQuotesAndBlanks) {
  EXPECT_EQ(read("1,\"The Matrix\",5\n1,\"Jam, hot\",3\n2,Up,4\n").users,
            (Strings{"1: Jam, hot=3 The Matrix=5", "2: Up=4"}));
  EXPECT_EQ(read("1\tThe Matrix\t5\n1\tUp\t3\n").users, (Strings{"1: The Matrix=5 Up=3"}));
  EXPECT_EQ(read("\"u\" \"green tea\" 5\n\"u\" \"jam\" 3\n").users, (Strings{"u: green tea=5 jam=3"}));
  EXPECT_EQ(read("1,\"12\"\" vinyl\",5\n1,b,2\n").users, (Strings{"1: 12\" vinyl=5 b=2"}));
  EXPECT_EQ(read("1,green tea\n1,jam\n").users, (Strings{"1: green tea=1 jam=1"}));
  EXPECT_EQ(read("ann,green tea,jam\nbob,jam,bread,rice\n").users,
            (Strings{"ann: jam=1 green tea=1", "bob: jam=1 bread=1 rice=1"}));
  EXPECT_EQ(read("ann, tea, jam\nbob, jam\n").users, (Strings{"ann: jam=1 tea=1", "bob: jam=1"}));
  const Read several = read("ann\ttea jam\nbob\tjam rice\n");  // as many
  EXPECT_EQ(several.users, (Strings{"ann: jam=1 tea=1", "bob: jam=1 rice=1"}));
  EXPECT_EQ(several.warnings.size(), 1U);
  EXPECT_TRUE(contains(fault_of("1,\"The Matrix,5\n1,b,5\n1,c,2\n"), "log:1:3: quotes open here"));
  EXPECT_TRUE(contains(fault_of("1,\"a\tb\",5\n1,b,5\n"), "TAB"));
}

TEST(LogLayout, ColonsMayPartFields) {
  EXPECT_EQ(read("1::1193::5::978300760\n1::661::3::978302109\n2::Big Fish::3::978301968\n").users,
            (Strings{"1: 1193=5 661=3 newest 661", "2: Big Fish=3 newest Big Fish"}));
  EXPECT_EQ(read("pkg role::program use::edit\nlib role::lib use::edit\n").users.back(),
            "pkg: use::edit=1 role::program=1");
}

TEST(LogLayout, EmptyFieldsAndOthersAreFaultsOfTheirLines) {
  EXPECT_TRUE(contains(fault_of("1\t10\t\t5\n1\t20\t3\t4\n2\t10\t1\t2\n"), "log:1:6: field 3 is empty"));
  EXPECT_TRUE(contains(fault_of("userId,movieId\n1,10\n,20\n"), "log:3:1: field 1 is empty"));
  EXPECT_TRUE(contains(fault_of("ann,tea,,jam\nbob,tea\n"), "log:1:9: field 3 is empty"));
  std::string most;
  for (int i = 0; i < 30; ++i) most += fmt::format("u,i{},3,978300760\n", i);
  EXPECT_TRUE(
      contains(fault_of(most + "u,i99\n"), "log:31:1: 2 fields in a file of pairs that has 4 in each line"));
  EXPECT_EQ(read("ann,tea,jam,rice,,\nbob,tea,,,,\n").users,
            (Strings{"ann: tea=1 jam=1 rice=1", "bob: tea=1"}));  // as wide as the widest
}

TEST(LogLayout, ColumnsMayBeNamedOrNumbered) {
  const std::string named = "who,what,stars,when,more\nu,a,2,9,x\nu,b,3,8,y\n";
  EXPECT_EQ(read(named, columns("who", "what", "stars", "when")).users, (Strings{"u: a=2 b=3 newest a"}));
  EXPECT_EQ(read("a,9,u\nb,8,u\n", columns("3", "1", "", "2")).users, (Strings{"u: a=1 b=1 newest a"}));
  EXPECT_EQ(read("who,what,stars\nu,a,2\nu,b,3\n", columns("1", "2", "3")).users, (Strings{"u: a=2 b=3"}));
  EXPECT_EQ(
      fault_of(named, columns("whom", "what")),
      "log:1:1: there is no column 'whom', which data.user names; the columns are who, what, stars, when, "
      "more");
  EXPECT_TRUE(
      contains(fault_of("a,b\nc,d\n", columns("1", "7")), "there is no column 7, which data.item names"));
  LogOptions none;
  none.weight = "none";
  EXPECT_EQ(read("user,item,rating\nu,a,0\nu,b,3\n", none).users, (Strings{"u: a=1 b=1"}));
}

TEST(LogLayout, WhatCannotBeToldIsRefusedWithWhatToSet) {
  for (const char* text :
       {"u\t2014-04-07T10:51:09Z\ta\t3\nu\t2014-04-07T10:54:09Z\tb\t0\n",  // times before items
        "u,a,view,978300760\nu,b,buy,978300761\n",                         // names before numbers
        "u\t2009-05-04T23:08:57Z\tx\ty\tz\tw\nu\t2009-05-04T13:54:10Z\tq\ty\tz\tw\n"}) {
    const std::string fault = fault_of(text);
    EXPECT_TRUE(contains(fault, "data.user=1 data.item=2")) << text;
  }
  EXPECT_TRUE(contains(fault_of("head,tail\n1,2\n1,3\n4,2\n"), "set data.user and data.item"));
}

TEST(LogLayout, WeightsAndTimesBeforeItemsAreRefused) {
  const auto log = [](const std::string& first, const std::string& second) {
    std::string text;
    for (int i = 0; i < 60; ++i)
      text +=
          fmt::format(fmt::runtime(first + "," + second + "\n"), fmt::arg("user", fmt::format("u{}", i % 7)),
                      fmt::arg("item", fmt::format("i{}", i % 11)), fmt::arg("rating", 1 + i % 5),
                      fmt::arg("time", 1717200000 + 100 * i), fmt::arg("id", 70 + i));
    return text;
  };
  for (const auto& [first, second] : {std::pair("{rating}", "{user},{item}"),
                                      {"{time}", "{user},{item}"},
                                      {"{user}", "{rating},{item}"},
                                      {"{user}", "{time},{item}"},
                                      {"{rating}", "{user},{item},{time}"},
                                      {"{user}", "{rating},{item},{time}"}})
    EXPECT_TRUE(contains(fault_of(log(first, second)), "data.user=1 data.item=2")) << first << second;
  for (const auto& [first, second] : {std::pair("{id}", "{user},{item}"), {"{user}", "{item},{item}x"}})
    EXPECT_EQ(fault_of(log(first, second)), "") << first << second;
}

TEST(LogLayout, WeightsOfZeroAreCounted) {
  const Read log = read("user,item,rating\nu,a,0\nu,b,3\n");
  EXPECT_EQ(log.users, (Strings{"u: b=3"}));
  ASSERT_EQ(log.warnings.size(), 1U);
  EXPECT_TRUE(contains(log.warnings[0], "1 of 2 lines have weight 0"));
}

TEST(LogLayout, RowsByNameAndNewestDoNotDependOnTheOrder) {
  LogOptions log;
  log.rows_by_name = true;
  const auto order_of = [&](std::string_view text) {
    TextOptions all;
    all.min_count = 1;
    ReadOptions options = log_options(log);
    const auto items = learn_items({text, "log"}, options, all);
    LogUsers users;
    options.users = &users;
    options.log.hold_out.newest = 1;
    MemorySink sink;
    sink.take(parse_interactions({text, "log"}, *items, options, sink), {});
    Strings names;
    for (std::size_t i = 0; i < users.size(); ++i)
      names.push_back(fmt::format("{} {}", users.name(i), items->label_name(users.held_out(i).front())));
    return names;
  };
  const Strings expected = {"a y", "ab x", "abcdefghi x", "abcdefghij y"};
  EXPECT_EQ(order_of("ab x 1 5\na x 1 5\na y 1 5\nabcdefghij y 1 4\nabcdefghi x 1 1\n"), expected);
  EXPECT_EQ(order_of("abcdefghi x 1 1\nabcdefghij y 1 4\na y 1 5\na x 1 5\nab x 1 5\n"), expected);
}

TEST(LogLayout, ByteOrderMarksAreSkipped) {
  const TemporaryFolder folder;
  const std::string path = folder.write("log", "\xef\xbb\xbfuser item\na x\na y\nb x\n");
  TextOptions all;
  all.min_count = 1;
  const Strings files = {path};
  const auto items = learn_items_of(files, log_options(), all, false);
  EXPECT_EQ(items->label_count(), 2U);
  EXPECT_EQ(items->label_name(0), "x");
}

TEST(LogLayout, OnlyLogsForSureAreGuessed) {
  const auto is_log = [](std::string_view text) { return detect_format(text) == DataFormat::kInteractions; };
  EXPECT_TRUE(is_log("196\t242\t3\t881250949\n186\t302\t3\t891717742\n"));
  EXPECT_TRUE(is_log("1::1193::5::978300760\n1::661::3::978302109\n"));
  EXPECT_TRUE(is_log("userId,movieId,rating,timestamp\n1,2,3.5,1112486027\n"));
  EXPECT_TRUE(is_log("user_id:token\titem_id:token\trating:float\n1\t2\t3\n"));
  EXPECT_FALSE(is_log("user_id,product_id,text,labels\n1,2,good,a\n"));  // perhaps a table
  EXPECT_TRUE(is_log("1\t2\t3\n3\t4\t5\n"));
  EXPECT_FALSE(is_log("\"1\t2\"::1::881250949\n\"1\t3\"::2::891717742\n"));  // no name has a TAB
}

}  // namespace
}  // namespace slide
