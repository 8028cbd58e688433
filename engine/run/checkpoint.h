// Checkpoint of a run: the complete state to resume training bitwise as if it had never stopped. Unlike the
// model file (model_file.h) it is private to this program, and includes hash tables and the position in the
// epoch. Format:
//
//   "SLIDERUN", u32 version
//   u64 bytes, the configuration as TOML
//   u64 samples of a full step; DataDigest of the training data; u8 and DataDigest of the test data
//   u64 bytes of metrics.jsonl at this point
//   the output of Trainer::save()
//   the footer of summed_file.h
//
// Functions are safe from any thread, for different files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/summed_file.h"
#include "engine/config/config.h"
#include "engine/training/trainer.h"

namespace slide {

// Identifies a data set.
struct DataDigest {
  std::uint64_t samples = 0, features = 0, labels = 0;
  std::uint64_t checksum = 0;  // CRC-32 of all ids and values
  bool operator==(const DataDigest&) const = default;
};
DataDigest digest_of(const Dataset& data);

// CRC-32 of the samples' labels, independent of their features.
std::uint32_t label_checksum(const Dataset& data);

// Description of the run in a checkpoint, besides the trainer's state.
struct RunRecord {
  Config config;
  std::uint64_t step_samples = 0;  // of a full step
  DataDigest train;
  std::optional<DataDigest> test;
  std::uint64_t log_bytes = 0;  // of metrics.jsonl
};

// Writes the checkpoint atomically and durably: an existing file stays until the new one is complete on disk.
// Throws Error where the folder is not writable or the disk is full. Processes of a cluster write it
// together; any number of processes can resume from it.
void save_checkpoint(const std::string& path, const RunRecord& record, const Trainer& trainer);

// Reads the file in pieces: memory use does not grow with its size.
class Checkpoint {
 public:
  // Reads the description. Throws InputError (one line) where the file is missing, not a checkpoint, of
  // another version, or damaged.
  explicit Checkpoint(std::string path);

  const RunRecord& record() const { return record_; }
  // Sets `trainer`, constructed for the record's configuration, data and step size, to the state of the run.
  // Throws InputError for invalid state: ids out of range, weights that are not finite, or a file that
  // changed meanwhile.
  void restore(Trainer& trainer) const;

 private:
  // Opens the file after its version.
  std::unique_ptr<SummedReader> open() const;

  std::string path_;
  RunRecord record_;
  std::uint64_t state_ = 0;  // bytes of the trainer's state, up to the footer
};

// Throws InputError that names the first key whose value differs, except keys that do not affect the result:
// data paths, cache, threads, checkpoints.
void check_same_config(const Config& saved, const Config& given, const std::string& origin);

}  // namespace slide
