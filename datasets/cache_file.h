// The file behind a cached data set: the six arrays of a DatasetView as they lie in memory, behind a header.
//
// The header (one page, numbers of this machine) holds magic, byte order, format version, the key, counts,
// sizes, the length of the file and a checksum of the arrays, and a checksum over all of that. The arrays
// start at multiples of 64 bytes.
//
// Opening a file checks all of the header, that the offsets ascend and, up to 1 GiB, the checksum of the
// arrays, and that ids ascend within rows and bounds and values are finite; which brings them into memory,
// where training wants them next. The entries of a larger file are trusted: it is on the disk before it gets
// its name, and reading it through would take longer than the start of a run may. Pages of a file larger than
// half of the machine's memory are fetched without reading ahead, since shuffled samples use nothing of what
// lies around them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/csr_sink.h"
#include "datasets/dataset.h"
#include "datasets/read_report.h"
#include "engine/base/atomic_file.h"

namespace slide {

// What the cached rows were made from. A change of how readers understand a file, or of this layout, is a new
// kCacheVersion.
inline constexpr std::uint32_t kCacheVersion = 5;

struct CacheKey {
  std::uint64_t source_bytes = 0;
  std::int64_t source_time = 0;    // last change, nanoseconds
  std::uint64_t labels_bytes = 0;  // of the labels file of IDX images or of an .npz pair, else 0
  std::int64_t labels_time = 0;
  std::uint64_t text = 0;     // digest of the vocabulary, else 0
  std::uint64_t columns = 0;  // of what is what in a table, and of several files, else 0
  std::uint32_t format = 0;
  std::uint32_t one_based = 0;
  std::uint32_t normalize = 0;
  std::uint32_t version = kCacheVersion;
  bool operator==(const CacheKey&) const = default;
};

// Writes the rows of a reader to a file, holding one chunk a thread in memory.
class CacheSink : public CsrSink {
 public:
  // Throws Error, in all functions, when the file cannot be written.
  explicit CacheSink(AtomicFile& file) : file_(file) {}

  void start(const CsrCounts& total, int threads) override;
  CsrRoom open(const CsrCounts& before, const CsrCounts& count, int thread) override;
  void close(int thread) override;
  std::string file() const override { return file_.path(); }
  // Completes the file by its checksums and header, which keeps what `report` counts as unknown, and warns
  // of.
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
  std::vector<Scratch> scratch_;  // one for each thread
};

enum class CacheCheck { kAll, kHeader };  // kHeader: for a file just written

// The data set in the cache file open as `descriptor`, called `path`, mapped: its memory is the kernel's page
// cache. Nothing when the file is no whole cache for `key`, or holds ids that the limits of `options` forbid.
// The report of `options` gets what was unknown, and warned of, when the file was made.
std::optional<Dataset> map_cache(int descriptor, const std::string& path, const CacheKey& key,
                                 const ReadOptions& options, CacheCheck check = CacheCheck::kAll);

}  // namespace slide
