// Data sets that are parsed once: the first reading writes a binary cache beside the file, later ones map it.
//
// The cache of FILE is FILE.slidecache. It is used only while size and time of FILE (and of the labels of IDX
// images) and the options that change its content are those it was made with; a cache that is stale, damaged,
// cut off or of another version is made again. It is written in chunks, without holding the data, so that
// sets larger than memory can be made and trained on: the rows live in the file and the kernel pages them.
// It appears under its name when it is whole and on the disk, so concurrent readers and writers are safe, in
// one process or several; a cache must be replaced or removed, never changed in place: one that shrinks while
// it is mapped ends the process, the program with one line that names it (engine/base/mapped_file.h), and
// leaves checkpoints as they are. All functions are safe to call from any thread.
#pragma once

#include <string>

#include "datasets/dataset.h"
#include "datasets/read_options.h"

namespace slide {

enum class CacheOutcome {
  kUsed,     // the rows were in the cache
  kWritten,  // the file was parsed; the next reading finds a cache
  kNone,     // the file was parsed, and there is no cache
};

struct CachedDataset {
  Dataset data;
  CacheOutcome outcome = CacheOutcome::kNone;
  std::string reason;  // kNone: why
};

// The name of the cache of the file at `path`; it lies beside `path` itself, not beside what a link points
// to, so that links in a folder that can be written give files elsewhere a cache. Of several files
// (data_parts.h) there is one for all, beside the first: FIRST+N.slidecache, with N others.
std::string cache_path(const std::string& path);

// What read_dataset(path, options) returns, throws and reports, from the cache where that is possible. A file
// of which rows were left out gets no cache. A cache that
// cannot be written (a folder without permission, a full disk) is no error: the data is then in memory, and
// the outcome says so.
CachedDataset read_dataset_cached(const std::string& path, const ReadOptions& options = {});

// What read_dataset(path, options) returns and throws, in an unnamed file in the folder of `beside` instead
// of memory. Throws Error when that cannot be written.
Dataset read_dataset_to_disk(const std::string& path, const ReadOptions& options, const std::string& beside);

}  // namespace slide
