// The checkpoint of a run: all that training needs to go on to the bit as if it had never stopped. Unlike the
// model file (model_file.h) it is for this program alone and holds hash tables and the place in the epoch.
//
//   "SLIDERUN", u32 version
//   u64 bytes, the configuration as TOML
//   u64 samples in a full step; DataDigest of the training data; u8 and DataDigest of the test data
//   u64 bytes of metrics.jsonl at this moment
//   what Trainer::save() writes
//   the footer of summed_file.h
//
// Functions may be called from any thread, on different files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "engine/base/summed_file.h"
#include "engine/config/config.h"
#include "engine/training/trainer.h"

namespace slide {

// Tells one data set from another.
struct DataDigest {
  std::uint64_t samples = 0, features = 0, labels = 0;
  std::uint64_t checksum = 0;  // CRC-32 of all ids and values
  bool operator==(const DataDigest&) const = default;
};
DataDigest digest_of(const Dataset& data);

// CRC-32 of the samples' labels: the same however the features of the samples are made.
std::uint32_t label_checksum(const Dataset& data);

// What a checkpoint says of its run, beside the trainer's state.
struct RunRecord {
  Config config;
  std::uint64_t step_samples = 0;  // in a full step
  DataDigest train;
  std::optional<DataDigest> test;
  std::uint64_t log_bytes = 0;  // of metrics.jsonl
};

// The file gets its name only when it is whole and on the disk; the checkpoint of that name before it stays
// as it was until then. Throws Error when the folder cannot be written or the disk is full. The processes of
// a cluster write it together, and any number of them can go on from it.
void save_checkpoint(const std::string& path, const RunRecord& record, const Trainer& trainer);

// The file is never held: a trainer takes as much memory as it does.
class Checkpoint {
 public:
  // Throws InputError, in one line, when the file is missing, no checkpoint, of another version or damaged.
  explicit Checkpoint(std::string path);

  const RunRecord& record() const { return record_; }
  // Takes `trainer`, made for the record's configuration, data and step, to where the run was. Throws
  // InputError when that cannot be, as of ids out of range, weights that are no finite numbers and a file
  // that has changed.
  void restore(Trainer& trainer) const;

 private:
  // The file behind its version.
  std::unique_ptr<SummedReader> open() const;

  std::string path_;
  RunRecord record_;
  std::uint64_t state_ = 0;  // the trainer's bytes, up to the footer
};

// Throws InputError naming the first key whose value differs, but for those that do not change the result:
// paths of the data, cache, threads, checkpoints.
void check_same_config(const Config& saved, const Config& given, const std::string& origin);

}  // namespace slide
