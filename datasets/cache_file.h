// File format of the data cache: the six arrays of a DatasetView as in memory, after a header.
//
// The header (one page, native byte order) holds magic, byte order, format version, key, counts, sizes, file
// length, a checksum of the arrays, and a checksum of itself. Arrays start at multiples of 64 bytes.
//
// Opening verifies the header, that offsets ascend and, up to 1 GiB, the checksum of the arrays, the order
// and bounds of ids and that values are finite; this also loads the arrays into memory, where training needs
// them next. Entries of larger files are trusted: the file was on disk before it got its name, and a full
// read would delay the start. Pages of a file larger than half of the machine's memory are fetched without
// read-ahead, since shuffled samples do not use adjacent pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/rows/csr_sink.h"
#include "datasets/rows/dataset.h"
#include "datasets/rows/read_report.h"
#include "engine/base/atomic_file.h"

namespace slide {

// Identity of the cached content. Increment kCacheVersion whenever readers interpret files differently or
// this layout changes.
inline constexpr std::uint32_t kCacheVersion = 5;

struct CacheKey {
  std::uint64_t source_bytes = 0;
  std::int64_t source_time = 0;    // last change, nanoseconds
  std::uint64_t labels_bytes = 0;  // of the labels file of IDX images or an .npz pair, else 0
  std::int64_t labels_time = 0;
  std::uint64_t text = 0;     // digest of the vocabulary, else 0
  std::uint64_t columns = 0;  // digest of the roles of table columns, and of the list of files; else 0
  std::uint32_t format = 0;
  std::uint32_t one_based = 0;
  std::uint32_t normalize = 0;
  std::uint32_t version = kCacheVersion;
  bool operator==(const CacheKey&) const = default;
};

// Writes the rows of a reader to a cache file; holds one chunk per thread in memory.
class CacheSink : public CsrSink {
 public:
  // All functions throw Error where the file cannot be written.
  explicit CacheSink(AtomicFile& file) : file_(file) {}

  void start(const CsrCounts& total, int threads) override;
  CsrRoom open(const CsrCounts& before, const CsrCounts& count, int thread) override;
  void close(int thread) override;
  std::string file() const override { return file_.path(); }
  // Writes checksums and header, which records the unknown counts of `report`.
  void finish(const CacheKey& key, const CsrSizes& sizes, const ReadReport& report = {});

 private:
  struct Scratch {
    CsrCounts before, count;
    std::vector<std::uint64_t> feature_ends;
    std::vector<std::uint32_t> feature_ids;
    std::vector<float> feature_values;
    std::vector<std::uint64_t> label_ends;
    std::vector<std::uint32_t> label_ids;
    std::vector<float> weights;
  };

  AtomicFile& file_;
  int threads_ = 1;
  CsrCounts total_;
  std::vector<Scratch> scratch_;  // one per thread
};

enum class CacheCheck { kAll, kHeader };  // kHeader: without the arrays, of a file that was just written

// Maps the cache file open as `descriptor`, with path `path`; its memory is the kernel's page cache. Returns
// nullopt where the file is not a complete cache for `key`, or has ids beyond the limits of `options`. Sets
// counts of unknown names and warnings of options.report. O(bytes) with kAll, as it checks the arrays.
std::optional<Dataset> map_cache(int descriptor, const std::string& path, const CacheKey& key,
                                 const ReadOptions& options, CacheCheck check = CacheCheck::kAll);

}  // namespace slide
