// The record of a run: metrics.jsonl, one JSON object a line, each on disk as soon as it is written. For one
// thread at a time.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/trainer.h"

namespace slide {

class RunLog {
 public:
  // Starts a new file at `path`; `ks` are those of the evaluations. Throws Error, here and below, when it
  // cannot be written.
  RunLog(std::string path, std::vector<std::uint32_t> ks);
  // Goes on behind the first `kept` bytes of the file, or behind all of it when there are less.
  RunLog(std::string path, std::vector<std::uint32_t> ks, std::uint64_t kept);

  // Bytes so far, all on the disk when it returns.
  std::uint64_t sync();

  // {"event":"epoch","epoch":..,"step":..,"loss":..,"train_seconds":..,"rehash_seconds":..,"active_mean":..,
  //  "samples_per_second":..,"peak_rss_mb":..}
  void write(const EpochReport& report);
  // {"event":"eval","epoch":..,"train_seconds":..,"eval_seconds":..} and eval_measures(); on the validation samples
  // "event":"validation", with "best":true when no evaluation before was as good.
  void write(const EvalReport& report);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void append(const nlohmann::ordered_json& event);

  std::string path_;
  std::vector<std::uint32_t> ks_;
  std::unique_ptr<std::FILE, Closer> file_;
};

// What an evaluation says in one line: P@k for every k of `ks`, nDCG and recall at the largest, PSP at the
// smallest and the largest. For k = 1, 3, 5: p_at_1, p_at_3, p_at_5, ndcg_at_5, psp_at_1, psp_at_5,
// recall_at_5.
nlohmann::ordered_json eval_measures(const Metrics& metrics, std::vector<std::uint32_t> ks);

// Most memory that this process has held so far, in units of 2^20 bytes.
double peak_rss_mb();

}  // namespace slide
