// Tests of groups and times of samples: reading, and splits by them.
#include "datasets/sidecar/sample_keys.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/reader.h"
#include "datasets/rows/sample_weights.h"
#include "datasets/rows/split.h"
#include "datasets/text_learner.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

using Ids = std::vector<std::uint32_t>;
using Words = std::vector<std::string>;

// Samples whose only feature has their index as value; samples in `bare` have no label.
Dataset keyed_samples(std::size_t count, SampleKeys keys, const std::set<std::size_t>& bare = {}) {
  DatasetArrays arrays;
  for (std::size_t i = 0; i < count; ++i) {
    arrays.feature_ids.push_back(0);
    arrays.feature_values.push_back(static_cast<float>(i));
    if (!bare.contains(i)) arrays.label_ids.push_back(static_cast<std::uint32_t>(i % 3));
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
    arrays.label_offsets.push_back(arrays.label_ids.size());
  }
  return Dataset(std::move(arrays), 1, 3).with_keys(std::make_shared<const SampleKeys>(std::move(keys)));
}

// The indices of the samples.
Ids numbers_of(const Dataset& data) {
  Ids numbers;
  for (std::size_t i = 0; i < data.samples(); ++i)
    numbers.push_back(static_cast<std::uint32_t>(data.features(i).values[0]));
  return numbers;
}

Ids held_out(const Dataset& data, double share, std::uint64_t seed = 1, std::size_t fold = 0) {
  const Split split = split_dataset(data, share, data.samples(), seed, fold);
  EXPECT_EQ(split.train.samples() + split.validation.samples(), data.samples());
  return numbers_of(split.validation);
}

// Groups of these sizes, with their samples scattered over the data.
Ids strewn(const std::vector<std::size_t>& sizes) {
  Ids groups;
  for (std::size_t round = 0, left = 1; left > 0; ++round) {
    left = 0;
    for (std::uint32_t g = 0; g < sizes.size(); ++g) {
      if (round >= sizes[g]) continue;
      groups.push_back(g);
      ++left;
    }
  }
  return groups;
}

TEST(SplitByGroup, KeepsGroupsWholeAndMeetsTheShareButForHalfAGroup) {
  const Ids groups = strewn({9, 4, 7, 2, 5, 5, 3, 8, 6, 4, 11, 2});
  const Dataset data = keyed_samples(groups.size(), {groups, {}});
  std::set<Ids> seen;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const double share : {0.1, 0.25, 0.5, 0.8}) {
      const Ids held = held_out(data, share, seed);
      std::map<std::uint32_t, std::size_t> of_group;
      for (const std::uint32_t i : held) ++of_group[groups[i]];
      std::size_t smallest = groups.size();
      for (const std::uint32_t g : std::set<std::uint32_t>(groups.begin(), groups.end())) {
        const auto size = static_cast<std::size_t>(std::ranges::count(groups, g));
        if (of_group.contains(g)) {
          EXPECT_EQ(of_group[g], size);
        } else {
          smallest = std::min(smallest, size);
        }
      }
      const auto wanted = static_cast<double>(static_cast<std::size_t>(share * double(groups.size())));
      EXPECT_LE(std::abs(double(held.size()) - wanted), double(smallest) / 2) << seed << " " << share;
      if (share == 0.25) seen.insert(held);
    }
    EXPECT_EQ(held_out(data, 0.25, seed), held_out(data, 0.25, seed));
  }
  EXPECT_GT(seen.size(), 10U) << "the seed draws";
}

TEST(SplitByGroup, FoldsShareNoGroupAndEndWhereNoneIsLeft) {
  const Ids groups = strewn({3, 3, 3, 3, 3, 3, 20});
  const Dataset data = keyed_samples(groups.size(), {groups, {}});
  std::set<std::uint32_t> validated;
  std::size_t fold = 0;
  for (; fold < 7; ++fold) {
    const Ids held = held_out(data, 0.16, 5, fold);
    if (held.empty()) break;
    for (const std::uint32_t i : held) EXPECT_TRUE(validated.insert(i).second);
    EXPECT_EQ(held.size(), 6U);
  }
  EXPECT_EQ(fold, 3U) << "the large group has no place in any";
}

TEST(SplitByGroup, SamplesWithoutLabelsAreNeverHeldOut) {
  const Ids groups = strewn({4, 4, 4, 4, 4});
  const Dataset data = keyed_samples(groups.size(), {groups, {}}, {0, 6, 12, 18, 4});
  const Ids held = held_out(data, 0.2);
  EXPECT_EQ(held.size(), 3U) << "of a group of four";
  for (const std::uint32_t i : held) EXPECT_EQ(groups[i], groups[held.front()]);
}

TEST(SplitByGroup, IsRefusedWhereGroupsLeaveOneSideEmpty) {
  const auto refusal = [](const Ids& groups, const Ids& times, double share) {
    return input_error([&] { split_dataset(keyed_samples(groups.size(), {groups, times}), share, 1000, 1); });
  };
  EXPECT_EQ(refusal(strewn({8}), {}, 0.25),
            "data.group: all 8 samples with labels are of one group, so none can be held out for validation; "
            "give finer groups, or leave data.group out");
  EXPECT_EQ(
      refusal(strewn({5, 6, 9}), {}, 0.1),
      "data.group: 2 of 20 samples with labels are to be held out for validation, but the smallest of 3 "
      "groups alone has 5; raise data.validation, or give finer groups or a file for validation");
  EXPECT_EQ(refusal(strewn({5, 6, 9}), {}, 0.95),
            "data.group: 19 of 20 samples with labels are to be held out for validation, but whole groups "
            "leave none to train on; lower data.validation, or give finer groups");
  EXPECT_EQ(refusal({0, 0, 0, 1, 1, 1, 1, 1, 0, 0}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 0.1),
            "data.group: 1 of 10 samples with labels are to be held out for validation, but the latest of 2 "
            "groups alone has 5; raise data.validation, or give finer groups or a file for validation");
}

TEST(SplitByTime, TakesTheLatestOfEqualTimesTheLastInTheFile) {
  const Ids times = {3, 9, 1, 7, 7, 0, 7, 2, 7, 4};
  const Dataset data = keyed_samples(10, {{}, times});
  EXPECT_EQ(held_out(data, 0.1), (Ids{1}));
  EXPECT_EQ(held_out(data, 0.3), (Ids{1, 6, 8}));
  EXPECT_EQ(held_out(data, 0.3, 99), (Ids{1, 6, 8})) << "nothing is drawn";
  EXPECT_EQ(numbers_of(split_dataset(data, 0.5, 2, 1).validation), (Ids{1, 8})) << "at most";
  EXPECT_EQ(held_out(data, 0.3, 1, 1), Ids{}) << "there is one split";
  EXPECT_EQ(held_out(keyed_samples(10, {{}, times}, {1, 8}), 0.25), (Ids{4, 6})) << "of those with labels";
}

TEST(SplitByTime, TakesTheLastOfTheFileByItsOrder) {
  const Dataset data = with_file_order(keyed_samples(10, {}));
  EXPECT_EQ(held_out(data, 0.3), (Ids{7, 8, 9}));
  EXPECT_STREQ(split_rule(data), "order");
}

TEST(SplitByTime, KeepsGroupsWholeByTheirLatestTimes) {
  //                     0  1  2  3  4  5  6  7  8  9
  const Ids groups = {0, 1, 1, 2, 0, 3, 3, 3, 4, 4}, times = {9, 0, 5, 8, 1, 2, 6, 2, 3, 3};
  const Dataset data = keyed_samples(10, {groups, times});
  EXPECT_EQ(held_out(data, 0.2), (Ids{0, 4})) << "the group whose latest time is 9";
  EXPECT_EQ(held_out(data, 0.3), (Ids{0, 3, 4}));
  EXPECT_EQ(held_out(data, 0.4), (Ids{0, 3, 4})) << "three are nearer than six";
  EXPECT_EQ(held_out(data, 0.5), (Ids{0, 3, 4, 5, 6, 7})) << "and six nearer than three";
  EXPECT_STREQ(split_rule(data), "group and time");
  EXPECT_STREQ(split_rule(with_file_order(data)), "group and order");
}

TEST(SampleKeysOfRows, GoWithCopiesAndWeightsButNotWithSlices) {
  const Dataset data = keyed_samples(6, {{0, 1, 0, 2, 1, 2}, {5, 4, 3, 2, 1, 0}});
  const Dataset weighted = weighted_rows(data, std::vector<float>{1, 0, 2, 1, 1, 1});
  ASSERT_NE(weighted.keys(), nullptr);
  EXPECT_EQ(weighted.keys()->groups, (Ids{0, 0, 2, 1, 2}));
  EXPECT_EQ(weighted.keys()->times, (Ids{5, 3, 2, 1, 0}));
  EXPECT_EQ(data.slice(0, 3).keys(), nullptr);
  EXPECT_STREQ(split_rule(data.slice(0, 3)), "random");
  EXPECT_THROW(data.with_keys(std::make_shared<const SampleKeys>(SampleKeys{{0, 1}, {}})), Error);
}

class SampleKeyFiles : public ::testing::Test {
 protected:
  KeyValues read(std::string_view text, std::size_t count) const {
    return read_key_file(folder_.write("k", text), kGroupKey, count, "data.txt");
  }
  std::string refusal(std::string_view text, std::size_t count) const {
    const std::string message = input_error([&] { read(text, count); });
    EXPECT_TRUE(message.starts_with(folder_.path("k"))) << message;
    return message.substr(std::min(message.size(), folder_.path("k").size()));
  }
  const TemporaryFolder folder_;
};

TEST_F(SampleKeyFiles, HaveAValueALineHoweverPacked) {
  const std::string text = "b c\na\n b c\r\n\xc3\xa9";
  for (const std::string& packed : {text, gzip(text), zstd(text)}) {
    const KeyValues values = read(packed, 4);
    EXPECT_EQ(values.ids, (Ids{0, 1, 0, 2}));
    EXPECT_EQ(values.distinct, (Words{"b c", "a", "\xc3\xa9"}));
  }
}

TEST_F(SampleKeyFiles, AreRefusedWithTheLineWhereTheyDoNotFit) {
  EXPECT_EQ(refusal("a\nb\n", 3),
            ":2: the groups end here, but data.txt has 3 samples; give one line for each");
  EXPECT_EQ(refusal("", 3), ":1: the groups end here, but data.txt has 3 samples; give one line for each");
  EXPECT_EQ(refusal("a\nb\nc\n", 2),
            ":3: a group more than the 2 samples of data.txt; give one line for each");
  EXPECT_EQ(refusal("a\n \nc\n", 3), ":2: the line is blank; give one group a line");
  EXPECT_NE(input_error([&] { read_key_file(folder_.path("none"), kTimeKey, 1, "d"); }), "");
}

TEST(TimesOfSamples, AreRankedAsNumbersOrAsTexts) {
  EXPECT_EQ(ranks_of_times(key_values({"10", "9", "-1.5", "1e1", "9"}), "d"), (Ids{2, 1, 0, 2, 1}));
  EXPECT_EQ(ranks_of_times(key_values({"2024-05-31", "2023-12-01", "2024-05-31T10:00"}), "d"),
            (Ids{1, 0, 2}));
}

// By the clock, not by their letters.
TEST(TimesOfSamples, AreRankedAsDates) {
  const std::vector<std::string_view> times = {"2024-03-31T01:30:00+02:00", "2024-03-31T00:15:00Z",
                                               "2024-03-30T23:00:00-05:00", "2024-3-31 02:00", "2024-03-31"};
  EXPECT_EQ(ranks_of_times(key_values(times), "d"), (Ids{0, 2, 4, 3, 1}));
  EXPECT_EQ(ranks_of_times(key_values({"2024-03-31T02:00+02:00", "2024-03-31", "2024-03-30"}), "d"),
            (Ids{1, 1, 0}));
  EXPECT_EQ(ranks_of_times(key_values({"2024 week 2", "2024 week 1", "Marmalade", "10:30"}), "d"),
            (Ids{2, 1, 3, 0}));
}

TEST(TimesOfSamples, AreRefusedWhereTheirOrderCannotBeTold) {
  for (const char* date : {"31/05/2024", "5/31/24", "31.5.2024 10:00", "Fri May 31 2024", "May 31, 2024"}) {
    EXPECT_EQ(input_error([&] {
                ranks_of_times(key_values({"2024-01-01", date}), "d.txt");
              }),
              fmt::format("data.time: sample 2 of d.txt has the time '{}'; such texts do not sort by time: "
                          "write dates as 2024-05-31",
                          date));
  }
  EXPECT_EQ(
      input_error([] {
        ranks_of_times(key_values({"1712000000", "1712000000", "1712000001000"}), "d.txt");
      }),
      "data.time: some times of d.txt are seconds and others thousandths or less, as '1712000001000' of "
      "sample 3, so that the latest cannot be told; write all in one unit");
}

TEST(TimesOfSamples, AreRefusedWhereTheyAreMixedOrAllTheSame) {
  EXPECT_EQ(input_error([] {
              ranks_of_times(key_values({"3", "4", "3", "x", "5"}), "d.txt");
            }),
            "data.time: sample 4 of d.txt has the time 'x', but sample 1 '3'; give numbers for all, or texts "
            "that sort by time");
  EXPECT_EQ(input_error([] {
              ranks_of_times(key_values({"x", "y", "7"}), "d.txt");
            }),
            "data.time: sample 3 of d.txt has the time '7', but sample 1 'x'; give numbers for all, or texts "
            "that sort by time");
  EXPECT_NE(input_error([] { ranks_of_times(key_values({"1", "nan"}), "d"); }), "");
  EXPECT_EQ(input_error([] {
              ranks_of_times(key_values({"7", "7"}), "d.txt");
            }),
            "data.time: all samples of d.txt have the time '7', so none is the latest; give other times, or "
            "order for their order in the file");
}

class SampleKeyColumns : public ::testing::Test {
 protected:
  KeyColumns read(const std::string& path, int threads = 1, bool skip_bad = false) const {
    ReadOptions options;
    options.columns = {"t", "l", ",", "", "g", "when"};
    options.threads = threads;
    options.skip_bad = skip_bad;
    return read_key_columns(path, options);
  }
  const TemporaryFolder folder_;
};

TEST_F(SampleKeyColumns, AreReadOfEveryKindOfTable) {
  const std::vector<std::string> tables = {
      folder_.write("a.csv", "g,t,when,l\n\"x, y\",one,5,a\nz,\"two\nlines\",3,b\n\nx,three,4,a\n"),
      folder_.write("a.tsv", "t\tl\tg\twhen\none\ta\tx, y\t5\ntwo\tb\tz\t3\nthree\ta\tx\t4\n"),
      folder_.write("a.jsonl",
                    "{\"t\": \"one\", \"l\": [\"a\"], \"g\": \"x, y\", \"when\": 5}\n"
                    "{\"when\": 3, \"g\": \"z\", \"t\": \"two\", \"l\": \"b\"}\n"
                    "{\"t\": \"three\", \"l\": \"a\", \"g\": \"x\", \"when\": \"4\"}\n")};
  for (const std::string& table : tables) {
    const KeyColumns keys = read(table);
    EXPECT_EQ(keys.group.distinct, (Words{"x, y", "z", "x"})) << table;
    EXPECT_EQ(keys.group.ids, (Ids{0, 1, 2})) << table;
    EXPECT_EQ(keys.time.distinct, (Words{"5", "3", "4"})) << table;
  }
  const KeyColumns all = read(folder_.path("a.csv") + "\n" + folder_.path("a.csv"));
  EXPECT_EQ(all.group.ids, (Ids{0, 1, 2, 0, 1, 2})) << "several files are one";
}

TEST_F(SampleKeyColumns, AreTheSameWithAnyNumberOfThreads) {
  std::string table = "g,t,when,l\n";
  for (int i = 0; i < 90000; ++i)
    table += fmt::format("g{},word word word word,{},a\n", i % 977, i * 7919 % 65537);
  const std::string path = folder_.write("long.csv", table);
  ASSERT_GT(table.size(), std::size_t{2} << 20);
  const KeyColumns one = read(path), four = read(path, 4);
  EXPECT_EQ(one.group.ids.size(), 90000U);
  EXPECT_EQ(one.group.ids, four.group.ids);
  EXPECT_EQ(one.time.distinct, four.time.distinct);
}

TEST_F(SampleKeyColumns, AreRefusedWhereAColumnOrAValueIsNotThere) {
  const auto refusal = [&](const char* name, const char* text) {
    const std::string path = folder_.write(name, text);
    const std::string message = input_error([&] { read(path); });
    EXPECT_TRUE(message.starts_with(path)) << message;
    return message.substr(std::min(message.size(), path.size()));
  };
  EXPECT_EQ(refusal("a.csv", "t,l,when\none,a,5\n"),
            ":1:1: there is no column 'g', which data.group names; the columns are t, l, when");
  EXPECT_EQ(refusal("a.csv", "t,l,g,when\none,a,x,5\ntwo,b,,6\n"),
            ":3:1: the column 'g', which data.group names, is empty or not there; give every sample a value");
  EXPECT_EQ(
      refusal("a.jsonl", "{\"t\": \"one\", \"l\": \"a\", \"g\": \"x\", \"when\": null}\n"),
      ":1:1: the column 'when', which data.time names, is empty or not there; give every sample a value");
  EXPECT_EQ(refusal("a.txt", "a\tno table\n"),
            ": data.group = g names a column, but this is no table; leave data.text out, and name a file");
  const std::string path = folder_.write("bad.csv", "t,l,g,when\none,a,x,5\ntwo,b,,6\nthree,a,y,7\n");
  EXPECT_EQ(read(path, 1, true).group.distinct, (Words{"x", "y"})) << "left out, as its row is";
}

}  // namespace
}  // namespace slide
