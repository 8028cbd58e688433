// Tests of interaction logs: forms, items, users, errors, held-out items.
#include "datasets/formats/interactions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "datasets/formats/detect.h"
#include "datasets/formats/held_out.h"
#include "datasets/formats/interaction_lines.h"
#include "datasets/formats/log_layout.h"
#include "datasets/reader.h"
#include "datasets/rows/read_report.h"
#include "datasets/text_learner.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

using Strings = std::vector<std::string>;

ReadOptions log_options(int threads = 2) {
  ReadOptions options;
  options.format = DataFormat::kInteractions;
  options.normalize = false;
  options.threads = threads;
  return options;
}

TextOptions all_items() {
  TextOptions options;
  options.min_count = 1;
  return options;
}

std::shared_ptr<const TextModel> items_of(std::string_view text, const TextOptions& options = all_items(),
                                          std::size_t chunk_bytes = kDefaultChunkBytes) {
  return learn_items({text, "log"}, log_options(), options, chunk_bytes);
}

Strings names_of(const TextModel& items) {
  Strings names;
  for (std::uint32_t id = 0; id < items.label_count(); ++id) names.emplace_back(items.label_name(id));
  return names;
}

Strings names_with(std::string_view more, const TextModel& before, const TextOptions& options) {
  const TextSource source{more, "more"};
  const auto items = learn_more_items(std::span(&source, 1), log_options(), before, options);
  EXPECT_EQ(items->vocabulary(), items->label_count());
  for (std::uint32_t id = 0; id < items->label_count(); ++id)
    EXPECT_EQ(items->feature_name(id), items->label_name(id));
  return names_of(*items);
}

// "user: item=weight item=weight ..." for each row, followed by the newest item.
Rows users_of(std::string_view text, const TextModel& items, ReadOptions options = log_options(),
              std::size_t chunk_bytes = kDefaultChunkBytes) {
  LogUsers users;
  MemorySink sink;
  options.users = &users;
  options.log.hold_out.newest = 1;
  const CsrSizes sizes = parse_interactions({text, "log"}, items, options, sink, chunk_bytes);
  const Dataset data = sink.take(sizes, {});
  Rows rows;
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::string row = fmt::format("{}:", users.name(i));
    const SparseRow features = data.features(i);
    for (std::size_t f = 0; f < features.ids.size(); ++f) {
      EXPECT_EQ(features.ids[f], data.labels(i)[f]);
      row += fmt::format(" {}={}", items.label_name(features.ids[f]), features.values[f]);
    }
    if (!users.held_out(i).empty())
      row += fmt::format(" newest {}", items.label_name(users.held_out(i).front()));
    EXPECT_EQ(users.row_of(users.name(i)), i);
    rows.push_back(row);
  }
  EXPECT_EQ(users.row_of("nobody"), std::nullopt);
  return rows;
}

Rows users_of(std::string_view text) {
  return users_of(text, *items_of(text));
}

LogLayout layout_of(std::string_view text, std::optional<KnownLog> known = {},
                    const ReadOptions& options = log_options()) {
  const TextSource source{text, "log"};
  return find_log_layouts(std::span(&source, 1), options, known).parts.front();
}

TEST(InteractionForms, ListsAndPairsAreToldApart) {
  const auto form_of = [](std::string_view text, std::optional<KnownLog> known = {}) {
    return layout_of(text, known).form;
  };
  EXPECT_EQ(form_of("u a b c\nv b\n"), TextForm::kItemLists);
  EXPECT_EQ(form_of("u a\nu b\n"), TextForm::kItemPairs);
  EXPECT_EQ(form_of("u a 1\nv b 2\nu b 3\n"), TextForm::kItemPairs);
  EXPECT_EQ(form_of("u a b\nv b c\n"), TextForm::kItemLists);  // each user once
  EXPECT_EQ(form_of("u a b c d\nu b c d e\n"), TextForm::kItemLists);
  EXPECT_EQ(form_of("u 1 1\nv 2 2\n"), TextForm::kItemLists);
  EXPECT_EQ(form_of("u 1 1\nv 2 2\n", KnownLog{TextForm::kItemPairs}), TextForm::kItemPairs);
  EXPECT_EQ(layout_of("userId,movieId\nu,a\n").header_bytes, 15U);
  EXPECT_EQ(layout_of("user1,a\nuser2,b\n").header_bytes, 0U);
  EXPECT_EQ(layout_of("user items\nu a b\n").header_bytes, 11U);
  EXPECT_EQ(layout_of("user 66\nuser 101\n").header_bytes, 0U);
  EXPECT_EQ(layout_of("\"user 66\"\n\"user 101\"\n").header_bytes, 0U);
}

// Users to predict for, of a log of four columns with commas between them: a weight or a time is not read as
// an item, nor an item as one of them, silently.
TEST(InteractionForms, AskedUsersAreReadByTheColumnsOfTheLog) {
  const auto asked = [](std::string_view text, std::size_t fields = 4,
                        Separator separator = Separator::kComma) {
    const TextSource source{text, "log"};
    LogLayouts layouts = find_log_layouts(std::span(&source, 1), log_options(),
                                          KnownLog{TextForm::kItemPairs, fields, separator});
    const LogLayout& layout = layouts.parts.front();
    return std::tuple(layout.form, layout.columns.weight.has_value(), layout.columns.time.has_value(),
                      layouts.warnings.size());
  };
  const auto lists = [](std::size_t warnings) {
    return std::tuple(TextForm::kItemLists, false, false, warnings);
  };
  const auto pairs = [](bool weight, bool time, std::size_t warnings) {
    return std::tuple(TextForm::kItemPairs, weight, time, warnings);
  };
  EXPECT_EQ(asked("900,30,5\n"), pairs(true, false, 1));
  EXPECT_EQ(asked("900,30,5,978300000\n"), pairs(true, true, 0));
  EXPECT_EQ(asked("900,30,978300000\n"), pairs(false, true, 0));
  EXPECT_EQ(asked("900,30,5,7\n"), lists(1));
  EXPECT_EQ(asked("900 30 5\n"), lists(0));
  EXPECT_EQ(asked("900 30 5 7\n"), lists(0));
  EXPECT_EQ(asked("900,30\n"), pairs(false, false, 0));
  EXPECT_EQ(asked("66\n900,30,5\n"), lists(1));
  EXPECT_EQ(asked("66\n900\n"), lists(0));
  EXPECT_EQ(asked("66\n900,30,5,7\n"), lists(1));
  std::string most = "901,30,5\n";
  for (int user = 0; user < 12; ++user) most += std::to_string(user) + ",30\n";
  EXPECT_EQ(asked(most), lists(1)) << "few lines have a weight";
  EXPECT_EQ(asked("900,30,5\n", 3), pairs(true, false, 0));
  EXPECT_EQ(asked("900 30 5\n", 3), lists(0));
  EXPECT_EQ(asked("900 30 5\n", 3, Separator::kBlanks), pairs(true, false, 0));
  EXPECT_EQ(asked("900 30 5 978300000\n", 4, Separator::kBlanks), pairs(true, true, 0));
}

// Separators that are none of other lists are those of the log where some line has them.
TEST(InteractionForms, AskedListsAreCutByTheSeparatorOfTheLog) {
  const auto cut_by = [](std::string_view text, Separator separator) {
    const TextSource source{text, "log"};
    return find_log_layouts(std::span(&source, 1), log_options(),
                            KnownLog{TextForm::kItemPairs, 4, separator})
        .parts.front()
        .separator;
  };
  for (const auto& [part, separator] :
       {std::pair("::", Separator::kColons), {";", Separator::kSemicolon}, {"|", Separator::kBar}}) {
    const std::string user = std::string("900") + part + "30";
    EXPECT_EQ(cut_by("66\n" + user + "\n", separator), separator);
    EXPECT_EQ(cut_by("66\n" + user + part + "5\n", separator), separator);
    EXPECT_EQ(cut_by("\"Ann Lee\"\n" + user + "\n", separator), separator);
    EXPECT_EQ(cut_by("66\n900 30 5\n", separator), Separator::kBlanks);
    EXPECT_EQ(cut_by("66 30 40\n" + user + "\n", separator), Separator::kBlanks);
  }
}

TEST(InteractionForms, NumbersAreGuessedWhereNothingElseCanBeMeant) {
  EXPECT_TRUE(looks_like_log("0 5 7 9\n1 2\n"));
  EXPECT_TRUE(looks_like_log("0,5\n1,2\n"));
  EXPECT_TRUE(looks_like_log("0 8362 1\n0 22406 1\n"));  // a header of 0 samples
  EXPECT_TRUE(looks_like_log("1 1193 5 978300760\n1 2 3.5 1\n"));
  EXPECT_TRUE(looks_like_log("user_id,item_id,rating,timestamp,channel\na,b,1,2,c\n"));
  EXPECT_TRUE(looks_like_log("channel\tuserId\tmovieId\nweb\ta\tb\n"));
  EXPECT_FALSE(looks_like_log("user_id,item_id,rating,review_text\na,b,1,good\n"));  // a table
  EXPECT_FALSE(looks_like_log("customer,product,price\na,b,1\n"));
  EXPECT_FALSE(looks_like_log("session_id,item_id,price\na,b,1\n"));
  EXPECT_FALSE(looks_like_log("4 10 3\n0 5 7\n1 2 3\n"));  // XMC text with values of 1
  EXPECT_FALSE(looks_like_log("2 10 3\n0 5:1\n1 2:1\n"));
  EXPECT_TRUE(looks_like_log("1\t2\n3\t4\n"));
  EXPECT_TRUE(looks_like_log("208\t64\t2\r\n23\t12\t3.5\r\n"));
  EXPECT_TRUE(looks_like_log("208\t64\t1600208000\t2\n23\t12\t1600714200\t2\n"));  // the time third
  for (const char* between : {"::", ";", "|"}) {
    const auto joined = [&](const char* line) { return fmt::format(fmt::runtime(line), between); };
    EXPECT_TRUE(looks_like_log(joined("208{0}64{0}1600208000{0}2\n") + joined("23{0}12{0}1600714200{0}2\n")));
    EXPECT_TRUE(looks_like_log(joined("1{0}2\n") + joined("3{0}4\n"))) << between;
    EXPECT_FALSE(looks_like_log(joined("1{0}2\n") + joined("3{0}a\n"))) << between;
  }
  EXPECT_FALSE(looks_like_log("1\t2 7 9\n3\t4 5\n"));  // labelled text of ids of words
  EXPECT_FALSE(looks_like_log("1,2\t7\n3\t4\n"));
  EXPECT_FALSE(looks_like_log("4\t10\t3\n0\t5\t7\n1\t2\t3\n"));  // XMC text
  EXPECT_FALSE(looks_like_log("1 3:1\n2 4:1\n"));
  EXPECT_FALSE(looks_like_log("u a b\nv c\n"));
  EXPECT_FALSE(looks_like_log("0 7 2\n0 5 7 9\n"));  // an incorrect header
  EXPECT_FALSE(looks_like_log("0 1 2\n"));           // one line
  EXPECT_FALSE(looks_like_log("0 -1 2\n0 1 2\n"));
  EXPECT_EQ(detect_format("0 5 7 9\n1 2\n"), DataFormat::kInteractions);
  EXPECT_EQ(detect_format("3 10 4\n0 5:1\n"), DataFormat::kXmc);
}

TEST(Interactions, ItemsAreFeaturesAndLabelsByFallingNumberOfUsers) {
  const auto items = items_of("u b a b b\nv a c\nw c a\n");
  EXPECT_EQ(names_of(*items), (Strings{"a", "c", "b"}));
  EXPECT_EQ(items->feature_count(), 3U);
  EXPECT_EQ(items->feature_name(1), "c");
  EXPECT_EQ(items->form(), TextForm::kItemLists);
  TextOptions frequent = all_items();
  frequent.min_count = 2;
  EXPECT_EQ(names_of(*items_of("u b a b b\nv a c\nw c a\n", frequent)), (Strings{"a", "c"}));
  frequent.max_features = 1;
  EXPECT_EQ(names_of(*items_of("u b a b b\nv a c\nw c a\n", frequent)), (Strings{"a"}));
  frequent.min_count = 9;
  EXPECT_EQ(input_error([&] { items_of("u a\n", frequent); }),
            "log: no item has 9 users of a weight above 0; lower text.min_count or check the data");
}

TEST(Interactions, MoreOfALogAddsItsOwnBehindThoseKnown) {
  const auto before = items_of("u b a b b\nv a c\nw c a\n");
  EXPECT_EQ(before->samples(), 3U);
  EXPECT_EQ(names_with("x e d\ny d a\n", *before, all_items()), (Strings{"a", "c", "b", "d", "e"}));
  EXPECT_EQ(names_with("x a b\n", *before, all_items()), names_of(*before));
  TextOptions options = all_items();
  options.min_count = 2;
  EXPECT_EQ(names_with("x e d\ny d a\n", *before, options), (Strings{"a", "c", "b", "d"}));
  for (const std::uint32_t most : {1U, 3U}) {
    options.max_features = most;
    EXPECT_EQ(names_with("x e d\ny d a\n", *before, options), names_of(*before)) << most;
  }
}

TEST(Interactions, ListsAndPairsOfTheSameUsersAreTheSameRows) {
  const Rows rows = {"u: a=1 b=1 newest b", "v: a=1 newest a"};
  EXPECT_EQ(users_of("u a b\nv a\n"), rows);
  EXPECT_EQ(users_of("u,a\r\nv,a\r\n\r\nu,b"), rows);
  EXPECT_EQ(users_of("u\ta\nv\ta\nu\tb\n"), rows);
  EXPECT_EQ(users_of("user_id,item_id\nu,a\nv,a\nu,b\n"), rows);
  EXPECT_EQ(users_of("u a\nv a\nu b a\n"), (Rows{"u: a=1 b=1 newest b", "v: a=1 newest a"}));
  EXPECT_EQ(users_of("u a b\nv\n"), (Rows{"u: a=1 b=1 newest b", "v:"}));  // an empty list
}

TEST(Interactions, WeightsAreValuesAndTimesTellTheNewest) {
  EXPECT_EQ(users_of("u a 2 30\nu b 0.5 10\nv a 1 5\nu a 3 20\nv b 0 9\n"),
            (Rows{"u: a=3 b=0.5 newest a", "v: a=1 newest a"}));
  EXPECT_EQ(users_of("u a 1 30\nu b 1 30\n"), (Rows{"u: a=1 b=1 newest b"}));  // by name
  ReadOptions in_order = log_options();
  in_order.log.in_order = true;
  const std::string text = "u b 1 30\nu a 1 20\nv a 1 5\n";
  EXPECT_EQ(users_of(text, *items_of(text), in_order), (Rows{"u: a=1 b=1 newest a", "v: a=1 newest a"}));
}

TEST(Interactions, RowsDoNotDependOnThreadsOrChunks) {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += fmt::format("user{} i{} {}\n", i * 7919 % 211, i * 104729 % 97, i % 5);
  const auto items = items_of(text);
  const Rows rows = users_of(text, *items);
  EXPECT_EQ(rows.size(), 211U);
  for (const std::size_t bytes : {1, 100, 4096}) {
    EXPECT_EQ(names_of(*items_of(text, all_items(), bytes)), names_of(*items));
    for (const int threads : {1, 3}) EXPECT_EQ(users_of(text, *items, log_options(threads), bytes), rows);
  }
}

TEST(Interactions, WhatAModelDoesNotKnowIsLeftOutAndCounted) {
  const auto items = items_of("u a b\nv a\n");
  ReadReport report;
  ReadOptions options = log_options();
  options.report = &report;
  EXPECT_EQ(users_of("x c c a\ny d\n", *items, options), (Rows{"x: a=1 newest a", "y:"}));
  EXPECT_EQ(report.unknown_features, 2U);
  Row row;
  Tokenizer tokenizer(items->options());
  items->features_of("b, c  a\tb", true, tokenizer, row);
  EXPECT_EQ(row.feature_count, 2U);
  EXPECT_EQ(row.ids[0], 0U);
  EXPECT_EQ(row.unknown, 1U);
  EXPECT_FLOAT_EQ(row.values[1], 0.70710678f);
  items->features_of("a \"b\tb\"", true, tokenizer, row);  // no name has a TAB
  EXPECT_EQ(row.feature_count, 1U);
  EXPECT_EQ(row.unknown, 2U);
}

TEST(Interactions, FaultsNameTheirPlace) {
  const auto fault_of = [](std::string_view text) { return input_error([&] { items_of(text); }); };
  EXPECT_EQ(fault_of("u a 1\nu b x\n"), "log:2:5: 'x' is no weight; a line is 'user item [weight [time]]'");
  EXPECT_EQ(fault_of("u a -1\nu b 1\n"),
            "log:1:5: '-1' is a negative weight; weights are from 0: leave out what a user disliked, add a "
            "number to all weights, or set data.weight=none to read none");
  EXPECT_EQ(
      fault_of("user,item,w,t\nu,a,1,2\nu,b,1,nan\n"),
      "log:3:7: 'nan' is no time, which is a number, or a date as 2024-05-31 or 2024-05-31T12:30:00Z; a "
      "line is 'user item [weight [time]]'");
  EXPECT_EQ(fault_of("u a\nu b\x1b[2J\n"),
            "log: the item 'b [2J' has a control character in its name; write it without");
  EXPECT_EQ(fault_of("\n\n"), "log:1:1: the log is empty; write 'user item item ...' for each user");
}

TEST(Interactions, LinesWithFaultsAreLeftOutAndCounted) {
  const std::string text = "u a 1\nu b x\nv a 1\nv c -2\nv b 1\n";
  ReadOptions options = log_options();
  ReadReport report;
  options.skip_bad = true;
  options.report = &report;
  const auto items = learn_items({text, "log"}, options, all_items());
  EXPECT_EQ(users_of(text, *items, options), (Rows{"u: a=1 newest a", "v: a=1 b=1 newest b"}));
  EXPECT_EQ(report.bad_rows, 2U);
  EXPECT_EQ(report.first.size(), 2U);
}

TEST(Interactions, FilesAreLearntAndReadPackedToo) {
  const TemporaryFolder folder;
  const std::string text = "0 5 7 9\n1 5\n";
  for (const std::string& content : {text, gzip(text), zstd(text)}) {
    const std::string path = folder.write("log", content);
    ReadOptions options = log_options();
    options.format = DataFormat::kAuto;
    options.text = learn_text_file(path, options, all_items());
    ASSERT_NE(options.text, nullptr);
    EXPECT_EQ(show(read_dataset(path, options)), (Rows{"0,1,2|0:1 1:1 2:1", "0|0:1"}));
  }
  EXPECT_TRUE(
      contains(input_error([&] { read_dataset(folder.path("log"), log_options()); }), "log of interactions"));
}

TEST(Interactions, ItemsComeBackFromTheirBytes) {
  const auto items = items_of("u b a\nv a c\n");
  const auto again = TextModel::from_bytes(items->to_bytes(), items->options(), "model");
  EXPECT_EQ(names_of(*again), names_of(*items));
  EXPECT_EQ(again->form(), TextForm::kItemLists);
}

// A log and its users.
struct Log {
  Log(std::string_view text, const TextModel& items, const HoldOut& hold_out = {}) {
    ReadOptions options = log_options();
    options.log.hold_out = hold_out;
    options.users = &users;
    MemorySink sink;
    const CsrSizes sizes = parse_interactions({text, "log"}, items, options, sink);
    rows = sink.take(sizes, {});
  }
  LogUsers users;
  Dataset rows;
};

TEST(HeldOut, AreOtherItemsOfTheSameUsers) {
  const std::string text = "u a b c\nv a b\nw a\n";
  const auto items = items_of(text);  // a b c
  const Log known(text, *items), asked("w b c\nnew a\nv a c\n", *items);
  EXPECT_EQ(show(held_out_samples(asked.rows, asked.users, known.rows, known.users)),
            (Rows{"1,2|0:1", "0|", "2|0:1 1:1"}));
}

TEST(HeldOut, NewestItemsStandApart) {
  const std::string text = "u a 1 3\nu b 1 5\nu c 1 4\nv a 1 1\n";
  const auto items = items_of(text);
  const auto apart_by = [&](const HoldOut& hold_out) {
    const Log log(text, *items, hold_out);
    return held_out_apart(log.rows, log.users, false, false);
  };
  HeldOutApart apart = apart_by({1});
  EXPECT_EQ(show(apart.test), (Rows{"1|0:1 2:1"}));
  EXPECT_EQ(show(apart.rest), (Rows{"0,2|0:1 2:1", "0|0:1"}));
  apart = apart_by({2});
  EXPECT_EQ(show(apart.test), (Rows{"1,2|0:1"}));
  EXPECT_EQ(show(apart.rest), (Rows{"0|0:1", "0|0:1"}));
  EXPECT_EQ(apart_by({3}).test.size(), 0U);  // users stay whole
  EXPECT_EQ(show(apart_by({0, 0.7}).test), (Rows{"1,2|0:1"}));
  EXPECT_EQ(show(apart_by({0, 0.4}).test), (Rows{"1|0:1 2:1"}));
  EXPECT_EQ(apart_by({0, 0.3}).test.size(), 0U);
}

// Training and the test's features know an item by what the user gave it before the time, not after.
TEST(HeldOut, LaterWeightsOfEarlierItemsAreNotKnown) {
  const std::string text = "u a 1 100\nu a 5 900\nu b 2 150\nu b 4 120\nu c 3 950\nv c 1 100\n";
  const auto items = items_of(text);  // c a b
  const Log log(text, *items, {0, 0, 500});
  const HeldOutApart apart = held_out_apart(log.rows, log.users, false, true);
  EXPECT_EQ(show(apart.test), (Rows{"0|1:1 2:4"}));
  EXPECT_EQ(show(apart.rest), (Rows{"1,2|1:1 2:4", "0|0:1"}));
}

// By date and by number, in seconds or thousandths; what a user had before is no test.
TEST(HeldOut, LaterItemsStandApart) {
  for (const bool thousandths : {false, true}) {
    const std::string end = thousandths ? "000\n" : "\n";
    const std::string text = "u a 1 1700000000" + end + "u b 1 1700000200" + end + "u c 1 1700000300" + end +
                             "u a 1 1700000400" + end + "v a 1 1700000100" + end + "w c 1 1700000200" + end;
    const auto items = items_of(text);  // a c b
    const Log log(text, *items, {0, 0, 1700000200});
    const HeldOutApart apart = held_out_apart(log.rows, log.users, false, true);
    EXPECT_EQ(show(apart.test), (Rows{"1,2|0:1", "1|"})) << thousandths;
    EXPECT_EQ(show(apart.rest), (Rows{"0|0:1", "0|0:1", "|"})) << thousandths;
  }
}

}  // namespace
}  // namespace slide
