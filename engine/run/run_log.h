// The log of a run: metrics.jsonl, one JSON object a line, each on disk as soon as it is written. For one
// thread at a time.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/network/memory_plan.h"
#include "engine/training/trainer.h"

namespace slide {

// What a run begins with.
struct RunStart {
  std::size_t samples = 0;  // of an epoch
  std::size_t test_samples = 0;
  std::size_t features = 0;
  std::size_t labels = 0;
  std::uint32_t train_labels = 0;            // label_checksum() of data.train, with what validation holds out
  std::optional<std::uint32_t> test_labels;  // and of data.test
  double load_seconds = 0.0;
  double data_bytes = 0.0;
  MemoryPlan plan;
  LabelGroups groups;
  std::size_t validation_samples = 0;
  std::string validation_by;  // as split_rule() says, or "file"; empty: there is no validation
};

class RunLog {
 public:
  // Starts a new file at `path`; `ks` are those of the evaluations. Throws Error, here and below, when it
  // cannot be written.
  RunLog(std::string path, std::vector<std::uint32_t> ks);
  // Goes on behind the first `kept` bytes of the file, or behind all of it when there are less.
  RunLog(std::string path, std::vector<std::uint32_t> ks, std::uint64_t kept);

  // Whether some process has the log at `path` open; false where the file system cannot tell.
  static bool is_open(const std::string& path);

  // Bytes so far, all on the disk when it returns.
  std::uint64_t sync();

  // The first line of a run: {"event":"start","samples":..,"test_samples":..,"features":..,"labels":..,
  //  "validation_samples":..,"validation_by":"random" where there is validation,
  //  "label_checksums":{"train":"7c0ffee1","test":..},
  //  "load_seconds":..,"label_groups":{"head":{"labels":..,"least":..,"most":..},..},"planned_mb":{"data":..,..}}
  void write(const RunStart& start);
  // {"event":"epoch","epoch":..,"step":..,"samples":..,"loss":..,"train_seconds":..,"setup_seconds":..,
  //  "data_seconds":.., and so on for all phases,"active_mean":..,"active_fraction":..,
  //  "samples_per_second":..,"peak_rss_mb":..}; where several processes train, of the one that leads also
  // {"ranks":..,"bytes_sent":..,"messages":..,"seconds_waited":..}, since the beginning
  void write(const EpochReport& report);
  // {"event":"eval","epoch":..,"samples":..,"train_seconds":..,"eval_seconds":..}, eval_measures() and
  // {"groups":{"head":{"positives":..,"recall_at_1":..,"p_at_1":..,..},..}}; on the validation samples
  // "event":"validation", with "best":true when no evaluation before was as good.
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
};

// What an evaluation says in one line: P@k for every k of `ks`, nDCG and recall at the largest, PSP at the
// smallest and the largest. For k = 1, 3, 5: p_at_1, p_at_3, p_at_5, ndcg_at_5, psp_at_1, psp_at_5,
// recall_at_5.
nlohmann::ordered_json eval_measures(const Metrics& metrics, std::vector<std::uint32_t> ks);

// The measures of an evaluation by group of labels: recall and the share of P@k for every k, see Metrics.
// Empty without groups.
nlohmann::ordered_json group_measures(const Metrics& metrics, const std::vector<std::uint32_t>& ks);

// Most memory that this process has held so far, in units of 2^20 bytes.
double peak_rss_mb();

}  // namespace slide
