// Destination of parsed rows: memory, or a file with the same arrays.
//
// A reader first counts, then starts the sink with exact totals; then several threads fill disjoint ranges in
// any order, one open range per thread.
#pragma once

#include <cstdint>
#include <string>

#include "datasets/rows/csr_storage.h"
#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"

namespace slide {

// Numbers of features and labels found by a reader.
struct CsrSizes {
  std::uint64_t feature_count = 0;  // for data read without limits: from the header, else feature_bound
  std::uint64_t label_count = 0;
  std::uint64_t feature_bound = 0;  // all ids are below
  std::uint64_t label_bound = 0;
  std::size_t dense_columns = 0;  // besides the features above
};

// Memory for consecutive rows: one end offset per row, relative to the start of the data set, and entries.
struct CsrRoom {
  std::uint64_t* feature_ends = nullptr;
  std::uint32_t* feature_ids = nullptr;
  float* feature_values = nullptr;
  std::uint64_t* label_ends = nullptr;
  std::uint32_t* label_ids = nullptr;
  float* weights = nullptr;  // only if rows have weights
  float* dense = nullptr;    // rows of dense columns; nullptr: the sink leaves them out
};

class CsrSink {
 public:
  virtual ~CsrSink() = default;
  // Allocates `total`, dropping previous content, for threads 0 .. threads - 1.
  virtual void start(const CsrCounts& total, int threads) = 0;
  // Memory of `thread` for `count` rows and entries, after `before`.
  virtual CsrRoom open(const CsrCounts& before, const CsrCounts& count, int thread) = 0;
  // Marks the last range opened by `thread` as filled.
  virtual void close(int thread) = 0;
  // Path of the file that a memory-saving sink writes (temporary files may be placed beside it; readers
  // should not hold their input in memory either); empty for other sinks.
  virtual std::string file() const { return {}; }
  bool saves_memory() const { return !file().empty(); }
};

// Builds a data set in memory.
class MemorySink : public CsrSink {
 public:
  void start(const CsrCounts& total, int threads) override;
  CsrRoom open(const CsrCounts& before, const CsrCounts& count, int thread) override;
  void close(int thread) override;
  Dataset take(const CsrSizes& sizes, const ReadOptions& options);

 private:
  CsrStorage storage_;
};

// Number of features or labels of a data set: the limit where given, else the number found.
inline std::uint32_t chosen_size(std::uint32_t limit, std::uint64_t found) {
  return limit != 0 ? limit : static_cast<std::uint32_t>(found);
}

}  // namespace slide
