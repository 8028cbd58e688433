// Log of a run, metrics.jsonl: one JSON object per line, flushed after each line. One thread at a time.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/event_file.h"
#include "engine/training/memory_plan.h"
#include "engine/training/trainer.h"

namespace slide {

// Facts at the start of a run.
struct RunStart {
  std::size_t samples = 0;  // per epoch
  std::size_t test_samples = 0;
  std::size_t features = 0;
  std::size_t labels = 0;
  std::uint32_t train_labels = 0;            // label_checksum() of data.train, validation samples included
  std::optional<std::uint32_t> test_labels;  // of data.test
  double load_seconds = 0.0;
  double data_bytes = 0.0;
  MemoryPlan plan;
  LabelGroups groups;
  std::size_t validation_samples = 0;
  std::string validation_by;  // see split_rule(), or "file"; empty: no validation
  int threads = 1;
  MarginEvidence margin = {};  // of layer.-1.wide_margin = auto
};

class RunLog {
 public:
  // Creates a new file at `path`; `ks` are the ranks of evaluations. Throws Error where it cannot be written,
  // as do all functions below.
  RunLog(std::string path, std::vector<std::uint32_t> ks);
  // Continues after the first `kept` bytes of the file, or after its end where it is shorter.
  RunLog(std::string path, std::vector<std::uint32_t> ks, std::uint64_t kept);

  // Whether some process has the log at `path` open; false where the file system cannot say.
  static bool is_open(const std::string& path);

  // From now on also writes the numbers of epochs and evaluations to an event file for TensorBoard at `path`,
  // and brings the file in line with the log so far: cuts off later events and adds missing ones. The step of
  // an event is the number of samples seen.
  void also_write_events(const std::string& path);

  // Flushes to disk; returns the file size in bytes.
  std::uint64_t sync();

  // The first line of a run: {"event":"start","samples":..,"test_samples":..,"features":..,"labels":..,
  //  "margin":{"share":..,"samples":..,"p_at_1_by_sums":..,"p_at_1_by_neighbours":..} where that was asked,
  //  "validation_samples":..,"validation_by":"random" where there is validation,
  //  "label_checksums":{"train":"7c0ffee1","test":..},
  //  "load_seconds":..,"label_groups":{"head":{"labels":..,"least":..,"most":..},..},
  //  "planned_mb":{"data":..,..}}
  void write(const RunStart& start);
  // {"event":"warning","text":..}: a warning of the data.
  void write_warning(const std::string& text);
  // {"event":"epoch","epoch":..,"step":..,"samples":..,"loss":..,"train_seconds":..,"setup_seconds":..,
  // "data_seconds":.., and so on for all phases,"active_mean":..,"active_fraction":..,
  // "samples_per_second":..,"peak_rss_mb":..}; with several processes, on rank 0, also
  // {"ranks":..,"bytes_sent":..,"messages":..,"seconds_waited":..} since the start
  void write(const EpochReport& report);
  // {"event":"eval","epoch":..,"samples":..,"train_seconds":..,"eval_seconds":..}, eval_measures() and
  // {"groups":{"head":{"positives":..,"recall_at_1":..,"p_at_1":..,..},..}}; for validation samples
  // "event":"validation", with "best":true for the best evaluation so far.
  void write(const EvalReport& report);
  // {"event":"tables","epoch":..,"samples":..,"layer":..,"buckets":..,"full_buckets":..,"stored":..,
  //  "largest_bucket":..,"histogram":[..]}
  void write(const TablesReport& report);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void append(const nlohmann::ordered_json& event);
  void mark_open();

  std::string path_;
  std::vector<std::uint32_t> ks_;
  std::unique_ptr<std::FILE, Closer> file_;
  std::optional<EventFile> events_;
};

// Metrics of an evaluation for one line: P@k for every k of `ks`, nDCG and recall at the largest k, PSP at
// the smallest and largest. For k = 1, 3, 5: p_at_1, p_at_3, p_at_5, ndcg_at_5, psp_at_1, psp_at_5,
// recall_at_5.
nlohmann::ordered_json eval_measures(const Metrics& metrics, std::vector<std::uint32_t> ks);

// Metrics by label group: recall and contribution to P@k for every k, see Metrics. Empty without groups.
nlohmann::ordered_json group_measures(const Metrics& metrics, const std::vector<std::uint32_t>& ks);

// Peak resident memory of this process, in units of 2^20 bytes.
double peak_rss_mb();

}  // namespace slide
