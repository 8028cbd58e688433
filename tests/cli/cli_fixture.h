// Fixture with a small configuration and data, and access to the files of runs. Not thread-safe.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/program.h"
#include "tests/cli/small_config.h"

namespace slide::test {

using Json = nlohmann::ordered_json;

inline const std::string kConfig = small_config();

inline std::vector<Json> events_of(const std::string& jsonl) {
  std::vector<Json> events;
  std::istringstream lines(jsonl);
  for (std::string line; std::getline(lines, line);) events.push_back(Json::parse(line));
  return events;
}

inline std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

// Events without values that depend on time, threads or machine.
inline Json without_timings(std::vector<Json> events) {
  for (Json& event : events) {
    for (const std::string& key : keys_of(event)) {
      if (key.ends_with("_seconds") || key.ends_with("_per_second") || key.ends_with("_mb")) event.erase(key);
    }
  }
  return events;
}

using Commands = std::vector<std::vector<std::string>>;

class CliTest : public testing::Test {
 protected:
  void SetUp() override { write_file(slide_.path("small.toml"), kConfig); }

  void generate() {
    expect_done(slide_.run({"generate", "--samples", "300", "--features", "120", "--labels", "60", "--seed",
                            "3", "--test-samples", "70", "--out", "data"}));
  }
  // All at once, since some wait for a writer of a pipe: each ends within `seconds`, with one line and exit
  // code 2.
  void expect_refused_together(const Commands& commands, int seconds) {
    std::string script;
    for (std::size_t i = 0; i < commands.size(); ++i)
      script += fmt::format("( timeout {} {} > /dev/null 2> err.{}; echo $? > code.{} ) < /dev/null &\n",
                            seconds, Program::command(commands[i]), i, i);
    write_file(slide_.path("all.sh"), fmt::format("cd {}\n{}wait\n", slide_.folder().string(), script));
    ASSERT_EQ(std::system(fmt::format("bash {}", slide_.path("all.sh")).c_str()), 0);
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const std::string command = fmt::format("{}", fmt::join(commands[i], " "));
      const std::string err = file(fmt::format("err.{}", i));
      EXPECT_EQ(file(fmt::format("code.{}", i)), "2\n") << command << ": " << err;
      EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << command << ": " << err;
      EXPECT_TRUE(err.starts_with("slide: ")) << command << ": " << err;
    }
  }
  // Kills the program before its given change of files, counted from 1; not at all where there are fewer.
  Outcome killed_at(int change, const std::vector<std::string>& arguments) {
    slide_.begin_with(fmt::format("export LD_PRELOAD='" SLIDE_FAULT "' FAULT=change:{}:KILL "
                                  "ASAN_OPTIONS=\"$ASAN_OPTIONS:verify_asan_link_order=0\"",
                                  change));  // AddressSanitizer must be loaded first
    Outcome outcome = slide_.run(arguments);
    slide_.begin_with(":");
    return outcome;
  }
  // Replaces any existing run.
  Outcome train(std::vector<std::string> more, const std::string& out = "out") {
    return slide_.run(
        Strings{"train", "small.toml", "--set", "data.train=data/train.txt", "--out", out, "--force"} + more);
  }
  void train_model() {
    generate();
    expect_done(train({"--set", "data.test=data/test.txt"}));
  }
  std::vector<Json> events(const std::string& out = "out") {
    return events_of(read_file(slide_.path(out + "/metrics.jsonl")));
  }

  std::string file(const std::string& name) const { return read_file(slide_.path(name)); }
  bool exists(const std::string& name) const { return std::filesystem::exists(slide_.path(name)); }
  void no_temporaries(const std::string& folder) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(slide_.path(folder)))
      EXPECT_FALSE(entry.path().string().ends_with(".tmp")) << entry.path();
  }

  Program slide_;
};

}  // namespace slide::test
