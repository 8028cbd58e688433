// Tests of data.group and data.time: columns and files are equivalent, with every option that changes the
// samples before the split.
#include "engine/run/validation_keys.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "engine/run/checkpoint.h"
#include "engine/run/continue_training.h"
#include "engine/run/run_data.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

class ValidationKeys : public ::testing::Test {
 protected:
  ValidationKeys() {
    std::string table = "text,tag,g,when,w\n", text, groups, times, weights;
    for (int i = 0; i < 40; ++i) {
      const std::string words = fmt::format("violin a{} b{}", i, i), tag = fmt::format("tag{}", i % 3);
      const std::string group = fmt::format("g{}", i * 7 % 10),
                        when = fmt::format("2024-01-{:02}", 1 + i * 11 % 28);
      const std::string weight = i % 5 == 0 ? "0" : "1";
      table += fmt::format("{},{},{},{},{}\n", words, tag, group, when, weight);
      text += fmt::format("{}\t{}\n", tag, words);
      groups += group + "\n";
      times += when + "\n";
      weights += weight + "\n";
    }
    for (const auto& [name, content] : {std::pair("k.csv", table),
                                        {"k.tsv", text},
                                        {"g.txt", groups},
                                        {"when.txt", times},
                                        {"w.txt", weights}})
      folder_.write(name, content);
  }
  Config with_data(const std::string& data, std::vector<std::string> more) const {
    more.insert(more.end(), {"data.train=" + folder_.path(data), "text.min_count=1", "data.validation=0.25"});
    return resolve_defaults(more);
  }
  // The held-out samples, and the rest.
  Dataset taken(const Config& config, Dataset* left = nullptr) const {
    RunData data = read_run_data(config, 2);
    Dataset validation = take_validation(config, data).value();
    if (left != nullptr) *left = data.train;
    return validation;
  }
  std::string of_file(const std::string& key, const std::string& name) const {
    return key + "=" + folder_.path(name);
  }
  static std::vector<std::string> of_columns(std::vector<std::string> more) {
    more.insert(more.end(), {"data.text=text", "data.labels=tag"});
    return more;
  }

  const TemporaryFolder folder_;
};

TEST_F(ValidationKeys, AreTheSameOfAColumnAsOfAFile) {
  const std::string group = of_file("data.group", "g.txt"), time = of_file("data.time", "when.txt");
  const std::vector<std::vector<std::string>> files = {
      {group}, {time}, {group, time}, {"data.time=order"}, {group, "data.time=order"}};
  const std::vector<std::vector<std::string>> named = {{"data.group=g"},
                                                       {"data.time=when"},
                                                       {"data.group=g", "data.time=when"},
                                                       {"data.time=order"},
                                                       {"data.group=g", "data.time=order"}};
  std::set<std::uint64_t> parts;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const char* first : {"data.train_first=0", "data.train_first=31"}) {
      std::vector<std::string> a = files[i], b = of_columns(named[i]);
      a.insert(a.end(), {first, of_file("data.sample_weights", "w.txt")});
      b.insert(b.end(), {first, "data.weight=w"});
      Dataset left_a, left_b;
      const Dataset of_files = taken(with_data("k.tsv", a), &left_a),
                    of_columns = taken(with_data("k.csv", b), &left_b);
      EXPECT_EQ(show(of_files), show(of_columns)) << i << first;
      EXPECT_EQ(show(left_a), show(left_b)) << i << first;
      EXPECT_EQ(of_files.size() + left_a.size(), std::string_view(first).ends_with("31") ? 24U : 32U);
      parts.insert(digest_of(of_files).checksum);
    }
  }
  EXPECT_EQ(parts.size(), 10U) << "each takes another part";
}

TEST_F(ValidationKeys, AreThereWhereRowsComeFromACache) {
  const std::vector<std::string> how = of_columns({"data.group=g", "data.cache=true"});
  const Dataset first = taken(with_data("k.csv", how)), again = taken(with_data("k.csv", how));
  EXPECT_EQ(show(first), show(again));
  const Dataset from_file = taken(with_data("k.tsv", {of_file("data.group", "g.txt"), "data.cache=true"}));
  EXPECT_EQ(show(first), show(from_file));
  EXPECT_NE(show(first), show(taken(with_data("k.csv", of_columns({"data.cache=true"})))));
}

TEST_F(ValidationKeys, CountInWhatTheDataAreKnownBy) {
  const auto checksum = [&](const std::vector<std::string>& how) {
    return digest_of(read_run_data(with_data("k.tsv", how), 1).train).checksum;
  };
  EXPECT_NE(checksum({}), checksum({of_file("data.group", "g.txt")}));
  EXPECT_NE(checksum({of_file("data.time", "g.txt")}), checksum({of_file("data.group", "g.txt")}));
}

TEST_F(ValidationKeys, ArePathsOnlyWhereTheyAreFiles) {
  Config config = with_data("k.tsv", {"data.group=g.txt", "data.time=when.txt"});
  EXPECT_TRUE(config.data.group.starts_with('/') && config.data.group.ends_with("/g.txt"));
  EXPECT_EQ(key_files(config.data).size(), 2U);
  config = with_data("k.csv", of_columns({"data.group=g", "data.time=when"}));
  EXPECT_EQ(config.data.group, "g");
  EXPECT_TRUE(key_files(config.data).empty());
  config = with_data("k.tsv", {"data.time=order"});
  EXPECT_EQ(config.data.time, "order");
  EXPECT_TRUE(key_files(config.data).empty());
}

TEST_F(ValidationKeys, AreForTrainingAlone) {
  const Config config = with_data("k.csv", of_columns({"data.group=g", "data.time=when"}));
  EXPECT_EQ(continued_config(config, "model").data.group, "");
  EXPECT_EQ(continued_config(config, "model").data.time, "");
  const TableColumns columns = model_read_options(config.data, {}, nullptr, 1).columns;
  EXPECT_EQ(columns.group + columns.time, "");
  folder_.write("test.csv", "text,tag\nviolin,tag1\n");
  Config tested = config;
  tested.data.test = folder_.path("test.csv");
  EXPECT_EQ(read_run_data(tested, 1).test->size(), 1U);
}

TEST_F(ValidationKeys, AreRefusedWhereTheyMakeNoSense) {
  const auto refused = [&](const std::vector<std::string>& how, const std::string& what,
                           bool skip_bad = false) {
    const std::string message = input_error([&] { read_run_data(with_data("k.tsv", how), 1, skip_bad); });
    EXPECT_TRUE(contains(message, what));
  };
  for (const char* key : {"data.group", "data.time"}) {
    const std::string file = of_file(key, "g.txt");
    refused({file}, "--skip-bad", true);
    refused({file, "data.kind=interactions"},
            key == std::string("data.group") ? "'data.group' = " : "which data.time names");
    const std::string message = input_error([&] {
      resolve_defaults({file, of_file("data.validation", "k.tsv")});
    });
    EXPECT_TRUE(contains(message, "'data.validation' is a file; leave one out"));
  }
  folder_.write("g.txt", "a\nb\n");
  refused({of_file("data.group", "g.txt")}, "g.txt:2: the groups end here, but");
  refused({of_file("data.time", "none.txt")}, "none.txt");
}

}  // namespace
}  // namespace slide
