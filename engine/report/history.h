// Reader of training runs from their folders. Stateless functions, safe from any thread.
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
  kUnknown,  // only a log exists
};

// The events of metrics.jsonl by kind, as JSON objects (engine/run/run_log.h), and other files of the folder.
struct RunHistory {
  std::string folder;  // absolute; the log file where it is not named metrics.jsonl
  std::string log;
  std::string name;  // set by name_runs() in comparison.h
  RunState state = RunState::kUnknown;
  std::vector<std::string> notes;      // warnings for the reader, one sentence each
  nlohmann::ordered_json start;        // null in logs without it
  nlohmann::ordered_json environment;  // null without environment.json
  double model_mb = 0.0;               // of model.slide, in units of 2^20 bytes; 0 without it
  std::string date;  // end of the run or last write of its log, "2026-11-25T18:42:07Z"; possibly empty
  std::vector<nlohmann::ordered_json> epochs, evals, validations, tables;
  std::vector<std::pair<std::string, std::string>>
      settings;  // of config.toml, in file order: "train.epochs", "5"
};

// Reads the run in folder `path`, or of the log file `path`. A truncated last line is dropped with a note;
// unknown events are skipped. Throws InputError where there is no log or a line is damaged.
RunHistory read_run(const std::string& path);

// The latest evaluation of a run (on test samples if any), and its totals:
// {"measured":"test","epoch":..,"measures":{"p_at_1":..},"train_seconds":..,"samples_per_second":..,
// "peak_rss_mb":..,"ranks":..,"bytes_sent":..,"seconds_waited":..,"seconds":{"setup":..,..,
// "evaluation":..}}; unknown values are omitted.
nlohmann::ordered_json summary_of(const RunHistory& run);

}  // namespace slide::report
