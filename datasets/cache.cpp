#include "datasets/cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "datasets/cache_file.h"
#include "datasets/formats/dense_data.h"
#include "datasets/read_into.h"
#include "datasets/reader.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/read_report.h"
#include "datasets/text/text_model.h"
#include "engine/base/atomic_file.h"
#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/base/rng.h"

namespace slide {

namespace {

using Nanoseconds = std::chrono::nanoseconds;

// File system clocks advance in steps; two changes within one step have the same time.
constexpr Nanoseconds kClockStep = std::chrono::milliseconds(20);

struct FileState {
  std::uint64_t bytes = 0;
  std::int64_t time = 0;
};

// nullopt where there is no regular file at `path`.
std::optional<FileState> state_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return FileState{static_cast<std::uint64_t>(status.st_size),
                   std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

std::uint64_t with_bytes(std::uint64_t digest, std::string_view bytes) {
  for (const char c : bytes) digest = mix64(digest + static_cast<unsigned char>(c));
  return digest;
}

// Digest of the names that affect the rows of a file; 0 without a table and with the default separator.
// Numbers above a byte end or introduce a name, so that different names give different sequences.
std::uint64_t digest_of(const TableColumns& columns) {
  constexpr std::uint64_t kEnd = 0x100, kGroup = 0x101, kTime = 0x102;
  if (columns.text.empty() && columns.label_separator == TableColumns().label_separator) return 0;
  std::uint64_t digest = 1;
  for (const std::string* name : {&columns.text, &columns.labels, &columns.label_separator, &columns.weight})
    digest = mix64(with_bytes(digest, *name) + kEnd);
  // Which rows are malformed depends on these columns, too.
  if (!columns.group.empty()) digest = with_bytes(mix64(digest + kGroup), columns.group);
  if (!columns.time.empty()) digest = with_bytes(mix64(digest + kTime), columns.time);
  return digest;
}

// nullopt for pipes, devices and missing files, which are not cached.
std::optional<CacheKey> key_of_file(const std::string& path, const ReadOptions& options) {
  const std::optional<FileState> source = state_of(path);
  if (!source) return {};
  CacheKey key;
  key.source_bytes = source->bytes;
  key.source_time = source->time;
  if (const std::string beside = labels_file_of(path); !beside.empty()) {
    const FileState labels = state_of(beside).value_or(FileState{});
    key.labels_bytes = labels.bytes;
    key.labels_time = labels.time;
  }
  key.format = static_cast<std::uint32_t>(options.format);
  key.one_based = options.one_based ? 1 : 0;
  key.normalize = options.normalize ? 1 : 0;
  key.columns = digest_of(options.columns);
  key.text = options.text != nullptr ? options.text->digest() : 0;
  if (options.unknown_labels != nullptr) key.text = mix64(key.text + 1);
  return key;
}

// Key of several files: the key of each and their names.
std::optional<CacheKey> key_of(const std::string& path, const ReadOptions& options) {
  if (!names_parts(path)) return key_of_file(path, options);
  CacheKey all;
  std::uint64_t digest = 2;
  for (const std::string& part : parts_of(path)) {
    const std::optional<CacheKey> key = key_of_file(part, options);
    if (!key) return {};
    digest = with_bytes(digest, part);
    for (const std::uint64_t of_part :
         {key->source_bytes, static_cast<std::uint64_t>(key->source_time), key->labels_bytes,
          static_cast<std::uint64_t>(key->labels_time), key->columns})
      digest = mix64(digest + of_part);
    const std::int64_t source_time = std::max(all.source_time, key->source_time);
    const std::int64_t labels_time = std::max(all.labels_time, key->labels_time);
    all = *key;
    all.source_time = source_time;
    all.labels_time = labels_time;
  }
  all.columns = digest;
  return all;
}

// Waits until a later change of a file changed just now would have a different time.
void let_clock_step(const CacheKey& key) {
  const auto now =
      std::chrono::duration_cast<Nanoseconds>(std::chrono::system_clock::now().time_since_epoch());
  const Nanoseconds age = now - Nanoseconds(std::max(key.source_time, key.labels_time));
  if (age >= Nanoseconds(0) && age < kClockStep) std::this_thread::sleep_for(kClockStep - age);
}

std::optional<Dataset> open_cache(const std::string& path, const CacheKey& key, const ReadOptions& options) {
  const Descriptor file(open(cache_path(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return {};
  if (options.report != nullptr) *options.report = {};
  return map_cache(file.get(), cache_path(path), key, options);
}

// Parses into a new cache file and maps it. Throws Error where it cannot be written.
CachedDataset write_cache(const std::string& path, const CacheKey& key, const ReadOptions& options) {
  AtomicFile file(cache_path(path), FileUse::kOwn);
  CacheSink sink(file);
  ReadReport report;
  ReadOptions reporting = options;
  reporting.report = &report;
  const CsrSizes sizes = read_into(sink, path, reporting);
  sink.finish(key, sizes, report);
  std::optional<Dataset> data =
      map_cache(file.descriptor(), cache_path(path), key, options, CacheCheck::kHeader);
  if (!data) fail_run("{}: cannot be mapped into memory", cache_path(path));
  if (options.report != nullptr) *options.report = report;
  if (report.bad_rows > 0)
    return {*std::move(data), CacheOutcome::kNone, shown_path(path) + ": rows with faults were left out"};
  CachedDataset result = {*std::move(data), CacheOutcome::kWritten, ""};
  const std::optional<CacheKey> key_now = key_of(path, options);
  if (key_now != key)
    return {result.data, CacheOutcome::kNone, shown_path(path) + ": changed while it was read"};
  try {
    file.finish();
  } catch (const Error& error) {
    return {result.data, CacheOutcome::kNone, error.what()};
  }
  return result;
}

}  // namespace

// Reads the data into a temporary file in cache format and maps that, so that the rows need no memory of
// their own. The file is never finished: it vanishes with its mapping, and its key stays empty.
Dataset read_dataset_to_disk(const std::string& path, const ReadOptions& options, const std::string& beside) {
  AtomicFile file(beside + ".rows", FileUse::kOwn);
  CacheSink sink(file);
  ReadReport report;
  ReadOptions reporting = options;
  if (reporting.report == nullptr) reporting.report = &report;
  const CsrSizes sizes = read_into(sink, path, reporting);
  sink.finish({}, sizes, *reporting.report);
  std::optional<Dataset> data = map_cache(file.descriptor(), beside, {}, options, CacheCheck::kHeader);
  if (!data) fail_run("{}: cannot be mapped into memory", beside);
  return *std::move(data);
}

std::string cache_path(const std::string& path) {
  if (!names_parts(path)) return path + ".slidecache";
  const std::vector<std::string> parts = parts_of(path);
  return fmt::format("{}+{}.slidecache", parts.front(), parts.size() - 1);
}

// Maps a valid cache, else writes one. Where none can be written (a pipe, a full disk), reads into memory and
// tells the reason. Invalid data are an error in either case.
CachedDataset read_dataset_cached(const std::string& named, const ReadOptions& options) {
  const std::string path = expanded(named);
  const std::optional<CacheKey> key = key_of(path, options);
  if (!key)
    return {read_dataset(path, options), CacheOutcome::kNone, shown_path(path) + ": not a regular file"};
  if (std::optional<Dataset> data = open_cache(path, *key, options)) {
    return {*std::move(data), CacheOutcome::kUsed, ""};
  }
  let_clock_step(*key);
  try {
    return write_cache(path, *key, options);
  } catch (const InputError&) {
    throw;
  } catch (const Error& error) {
    return {read_dataset(path, options), CacheOutcome::kNone, error.what()};
  }
}

}  // namespace slide
