// Where a reader puts the rows it parses: memory, or a file with the same arrays.
//
// A reader counts first, then starts the sink with the exact totals, and several threads fill disjoint places
// in any order. Each thread has one place open at a time.
#pragma once

#include <cstdint>
#include <string>

#include "datasets/csr_storage.h"
#include "datasets/dataset.h"
#include "datasets/read_options.h"

namespace slide {

// What a reader finds out about the ids beside the rows.
struct CsrSizes {
  std::uint64_t feature_count = 0;  // of a data set read without limits: from the header, else feature_bound
  std::uint64_t label_count = 0;
  std::uint64_t feature_bound = 0;  // all ids lie below
  std::uint64_t label_bound = 0;
};

// Room for some consecutive rows: one end offset a row, counted from the start of the data set, and entries.
struct CsrRoom {
  std::uint64_t* feature_ends = nullptr;
  std::uint32_t* feature_ids = nullptr;
  float* feature_values = nullptr;
  std::uint64_t* label_ends = nullptr;
  std::uint32_t* label_ids = nullptr;
  float* weights = nullptr;  // where there are any
};

class CsrSink {
 public:
  virtual ~CsrSink() = default;
  // Makes place for `total`, forgetting what was there, to be filled by threads 0 .. threads - 1.
  virtual void start(const CsrCounts& total, int threads) = 0;
  // Room of `thread` for `count` rows and entries behind `before`.
  virtual CsrRoom open(const CsrCounts& before, const CsrCounts& count, int thread) = 0;
  // The room that `thread` opened last is filled.
  virtual void close(int thread) = 0;
  // Of a sink that exists to save memory, so that a reader should not hold its file either: the file that it
  // writes, beside which others may lie meanwhile. Empty: it does not.
  virtual std::string file() const { return {}; }
  bool saves_memory() const { return !file().empty(); }
};

// Collects a data set in memory.
class MemorySink : public CsrSink {
 public:
  void start(const CsrCounts& total, int threads) override;
  CsrRoom open(const CsrCounts& before, const CsrCounts& count, int thread) override;
  void close(int thread) override;
  Dataset take(const CsrSizes& sizes, const ReadOptions& options);

 private:
  CsrStorage storage_;
};

// The number of features or labels of a data set: the limit where one is given.
inline std::uint32_t chosen_size(std::uint32_t limit, std::uint64_t found) {
  return limit != 0 ? limit : static_cast<std::uint32_t>(found);
}

}  // namespace slide
