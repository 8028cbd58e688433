// Folders of runs, written by hand.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/report/history.h"
#include "tests/expect.h"
#include "tests/files.h"

namespace slide::report {
using Json = nlohmann::ordered_json;

inline constexpr const char* kStart = R"({"event":"start","samples":10,"load_seconds":0.5})";
inline constexpr const char* kConfig = "[train]\nepochs = {}\n[[layer]]\nsize = 8\n[[layer]]\n";

inline std::string epoch_line(int epoch, double seconds, double speed, double memory) {
  return fmt::format(
      R"({{"event":"epoch","epoch":{},"samples":{},"loss":1.5,"train_seconds":{},"setup_seconds":0.1,)"
      R"("data_seconds":0.2,"hashing_seconds":0.3,"forward_seconds":0.4,"backward_seconds":0.5,"update_seconds":0.6,)"
      R"("rehash_seconds":0.7,"samples_per_second":{},"peak_rss_mb":{}}})",
      epoch, 10 * epoch, seconds, speed, memory);
}

inline std::string eval_line(const char* event, int epoch, double precision) {
  return fmt::format(
      R"({{"event":"{}","epoch":{},"train_seconds":1.0,"eval_seconds":0.25,"p_at_1":{},"best":true}})", event,
      epoch, precision);
}

class RunsTest : public FolderTest {
 protected:
  // As a run stores it: with all keys.
  static std::string stored(const std::string& config) { return to_toml(parse_config(config, "test")); }
  // A finished run with these log lines.
  RunHistory run(const std::string& name, const std::vector<std::string>& lines, bool finished = true) const {
    std::string log;
    for (const std::string& line : lines) log += line + '\n';
    write(name + "/metrics.jsonl", log);
    write(name + "/environment.json", fmt::format(R"({{"finished":{}}})", finished));
    write(name + "/config.toml", stored(fmt::format(kConfig, 2)));
    return read_run(path(name));
  }
  void expect_refused(const std::string& at, const std::string& what) const {
    EXPECT_TRUE(contains(input_error([&] { read_run(at); }), what));
  }
};

}  // namespace slide::report
