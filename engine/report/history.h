// Training runs as their folders tell them. Functions without state, safe from any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace slide::report {

enum class RunState {
  kFinished,
  kRunning,
  kInterrupted,
  kUnknown,  // a log alone
};

// The lines of metrics.jsonl by event, as objects (engine/run_log.h), and what lies beside it.
struct RunHistory {
  std::string folder;  // absolute; of a log with a name of its own, that file
  std::string log;
  std::string name;  // see name_runs() in comparison.h
  RunState state = RunState::kUnknown;
  std::vector<std::string> notes;      // what a reader should know, a sentence each
  nlohmann::ordered_json start;        // null in logs without it
  nlohmann::ordered_json environment;  // null without environment.json
  double model_mb = 0.0;               // of model.slide, in units of 2^20 bytes; 0 without
  std::string date;  // "2026-11-25T18:42:07Z": when the run ended, or its log was last written; may be empty
  std::vector<nlohmann::ordered_json> epochs, evals, validations, tables;
  std::vector<std::pair<std::string, std::string>>
      settings;  // "train.epochs", "5": of config.toml, in its order
};

// The run in a folder, or whose metrics.jsonl `path` is. A last line that was cut off is left out with a
// note; lines of unknown events are skipped. Throws InputError when there is no log or a line of it is
// damaged.
RunHistory read_run(const std::string& path);

// The newest of a run's evaluations, on the test samples if there are any, and its totals:
// {"measured":"test","epoch":..,"measures":{"p_at_1":..},"train_seconds":..,"samples_per_second":..,
//  "peak_rss_mb":..,"ranks":..,"bytes_sent":..,"seconds_waited":..,"seconds":{"setup":..,..,
//  "evaluation":..}}; what is not known is missing.
nlohmann::ordered_json summary_of(const RunHistory& run);

}  // namespace slide::report
