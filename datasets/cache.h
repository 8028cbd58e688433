// Binary cache of parsed data sets: the first reading writes a cache beside the file, later readings map it.
//
// The cache of FILE is FILE.slidecache. It is valid while size and time of FILE (and of the labels of IDX
// images) and the options that affect its content are unchanged; a cache that is stale, damaged, truncated or
// of another version is rebuilt. It is written in chunks, without holding the data in memory, so that sets
// larger than memory can be built and trained on: the kernel pages the rows from the file. It appears under
// its name only when complete and on disk, so that concurrent readers and writers are safe, also across
// processes. Replace or remove a cache, never modify it in place: a file that shrinks while mapped ends the
// process, with a message that names it (engine/base/mapped_file.h); checkpoints survive. Functions are safe
// from any thread.
#pragma once

#include <string>

#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"

namespace slide {

enum class CacheOutcome {
  kUsed,     // rows from the cache
  kWritten,  // parsed the file and wrote a cache
  kNone,     // parsed the file, no cache
};

struct CachedDataset {
  Dataset data;
  CacheOutcome outcome = CacheOutcome::kNone;
  std::string reason;  // for kNone: the reason
};

// Path of the cache for the file `path`: beside `path` itself, not beside the target of a link, so that links
// in a writable folder give read-only files a cache. Several files (data_parts.h) share one cache beside the
// first: FIRST+N.slidecache for N further files.
std::string cache_path(const std::string& path);

// Reads from the cache where possible, with the results and errors of read_dataset(path, options). Files
// with skipped rows are not cached. A cache that cannot be written (read-only folder, full disk) is not an
// error: the data is then in memory, and the outcome says so.
CachedDataset read_dataset_cached(const std::string& path, const ReadOptions& options = {});

// Reads as read_dataset(path, options) into an unnamed file in the folder of `beside` instead of memory.
// Throws Error where that file cannot be written.
Dataset read_dataset_to_disk(const std::string& path, const ReadOptions& options, const std::string& beside);

}  // namespace slide
