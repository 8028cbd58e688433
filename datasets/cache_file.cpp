#include "datasets/cache_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "engine/base/aligned.h"
#include "engine/base/byte_io.h"
#include "engine/base/descriptor.h"
#include "engine/base/finite.h"
#include "engine/base/mapped_file.h"
#include "engine/base/parallel.h"
#include "engine/base/rng.h"

namespace slide {

namespace {

constexpr std::array<char, 8> kCacheMagic = {'S', 'L', 'I', 'D', 'E', 'C', 'S', 'R'};
constexpr std::uint64_t kByteOrder = 0x0102030405060708ULL;
constexpr std::uint64_t kHeaderBytes = 4096;
constexpr std::uint64_t kSummedBytes = std::uint64_t{1}
                                       << 30;  // files up to this size have a checksum of the arrays
constexpr std::size_t kWarningBytes = 3072;
constexpr std::size_t kRowsToCheck = 512;                // rows per check: their entries stay in cache
constexpr std::size_t kSumBytes = std::size_t{1} << 20;  // checksum block, a multiple of a page

// The fields of CsrCounts and CsrSizes that a cache file stores. It has no dense columns.
struct StoredCounts {
  std::uint64_t rows = 0, features = 0, labels = 0, weights = 0;
};
struct StoredSizes {
  std::uint64_t feature_count = 0, label_count = 0, feature_bound = 0, label_bound = 0;
};

StoredCounts stored(const CsrCounts& counts) {
  return {counts.rows, counts.features, counts.labels, counts.weights};
}
StoredSizes stored(const CsrSizes& sizes) {
  return {sizes.feature_count, sizes.label_count, sizes.feature_bound, sizes.label_bound};
}

struct CacheHeader {
  std::array<char, 8> magic = kCacheMagic;
  std::uint64_t byte_order = kByteOrder;
  CacheKey key;
  StoredCounts counts;
  StoredSizes sizes;
  std::uint64_t unknown_features = 0, unknown_labels = 0;  // see ReadReport
  std::array<char, kWarningBytes> warnings{};              // of ReadReport, a line each, as many as fit
  std::uint64_t file_bytes = 0;
  std::uint64_t has_data_checksum = 0;
  std::uint64_t data_checksum = 0;  // of everything after the header's page
  std::uint64_t checksum = 0;       // of everything before this member
};
static_assert(std::is_trivially_copyable_v<CacheHeader> && sizeof(CacheHeader) <= kHeaderBytes);
static_assert(std::has_unique_object_representations_v<CacheHeader>, "padding would change the checksum");

std::uint64_t checksum(const CacheHeader& header) {
  std::array<std::uint64_t, offsetof(CacheHeader, checksum) / sizeof(std::uint64_t)> words{};
  std::memcpy(words.data(), &header, sizeof words);
  std::uint64_t sum = 0;
  for (const std::uint64_t word : words) sum = mix64(sum + word);
  return sum;
}

void store_warnings(const ReadReport& report, CacheHeader& header) {
  std::size_t used = 0;
  for (const std::string& warning : report.warnings) {
    if (used + warning.size() + 1 > header.warnings.size()) return;
    std::ranges::copy(warning, header.warnings.begin() + static_cast<std::ptrdiff_t>(used));
    used += warning.size();
    header.warnings[used++] = '\n';
  }
}

void restore_warnings(const CacheHeader& header, ReadReport& report) {
  std::string_view rest(header.warnings.data(), header.warnings.size());
  rest = rest.substr(0, rest.find('\0'));
  for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1))
    report.add_warning(std::string(rest.substr(0, end)));
}

// Positions of the arrays in the file.
struct Layout {
  std::uint64_t feature_offsets, label_offsets, feature_ids, feature_values, label_ids, weights, end;
};

// Byte positions of the arrays in the file, each a multiple of kAlignment.
Layout layout_of(const StoredCounts& counts) {
  const std::uint64_t offsets = round_up((counts.rows + 1) * sizeof(std::uint64_t), kAlignment);
  const std::uint64_t features = round_up(counts.features * sizeof(float), kAlignment);
  Layout layout{};
  layout.feature_offsets = kHeaderBytes;
  layout.label_offsets = layout.feature_offsets + offsets;
  layout.feature_ids = layout.label_offsets + offsets;
  layout.feature_values = layout.feature_ids + features;
  layout.label_ids = layout.feature_values + features;
  layout.weights = layout.label_ids + round_up(counts.labels * sizeof(std::uint32_t), kAlignment);
  layout.end = layout.weights + round_up(counts.weights * sizeof(float), kAlignment);
  return layout;
}

// Whether the header is undamaged, of this format and byte order, and fits the length of the file.
bool is_sound(const CacheHeader& header, std::uint64_t file_bytes) {
  if (header.magic != kCacheMagic || header.byte_order != kByteOrder || header.checksum != checksum(header)) {
    return false;
  }
  // No count exceeds the number of bytes, so that the layout cannot overflow.
  const StoredCounts& counts = header.counts;
  const StoredSizes& sizes = header.sizes;
  const bool sizes_fit = std::max(sizes.feature_count, sizes.label_count) <= UINT32_MAX &&
                         sizes.feature_bound <= sizes.feature_count && sizes.label_bound <= sizes.label_count;
  const bool weights_fit = counts.weights == 0 || counts.weights == counts.rows;
  const bool counts_fit =
      counts.rows < file_bytes && counts.features < file_bytes && counts.labels < file_bytes && weights_fit;
  return sizes_fit && counts_fit && header.file_bytes == file_bytes && layout_of(counts).end == file_bytes;
}

// Whether all ids are within the limits.
bool is_allowed(const StoredSizes& sizes, const ReadOptions& options) {
  return (options.feature_limit == 0 || sizes.feature_bound <= options.feature_limit) &&
         (options.label_limit == 0 || sizes.label_bound <= options.label_limit);
}

bool is_ascending(std::span<const std::uint64_t> offsets, std::uint64_t entries) {
  std::uint64_t descents = 0;
  for (std::size_t i = 1; i < offsets.size(); ++i) descents += offsets[i] < offsets[i - 1];
  return descents == 0 && offsets.front() == 0 && offsets.back() == entries;
}

template <class T>
std::span<const T> array_of(const MappedFile& file, std::uint64_t offset, std::uint64_t size) {
  return {reinterpret_cast<const T*>(file.bytes().data() + offset), size};
}

// Whether a file takes at most half of the physical memory, so that the page cache can hold it.
bool fits_in_memory(std::uint64_t bytes) {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  return bytes <= pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
}

// Checksum of a block: four independent multiplication chains over a multiple of four words, which runs at
// memory speed; each step is a bijection, so that a changed word changes the sum.
std::uint64_t sum_block(std::span<const std::uint64_t> words) {
  std::array<std::uint64_t, 4> sums = {1, 2, 3, 4};
  for (std::size_t i = 0; i + 4 <= words.size(); i += 4) {
    for (std::size_t j = 0; j < 4; ++j) sums[j] = (sums[j] ^ words[i + j]) * 0x9e3779b97f4a7c15ULL;
  }
  return mix64(sums[0] + mix64(sums[1] + mix64(sums[2] + mix64(sums[3]))));
}

// Checksum of the arrays, independent of the number of threads. `release_pages`: releases the
// pages of each block afterwards.
std::uint64_t sum_data(const MappedFile& file, int threads, bool release_pages) {
  const std::size_t bytes = file.bytes().size() - kHeaderBytes;
  std::vector<std::uint64_t> sums((bytes + kSumBytes - 1) / kSumBytes);
  parallel_for(sums.size(), threads, [&](std::size_t block, int) {
    const std::size_t first = kHeaderBytes + block * kSumBytes;
    const std::string_view part = file.bytes().substr(first, kSumBytes);
    sums[block] = sum_block(array_of<std::uint64_t>(file, first, part.size() / sizeof(std::uint64_t)));
    if (release_pages) file.advise(part, MADV_DONTNEED);
  });
  std::uint64_t total = 0;
  for (const std::uint64_t sum : sums) total = mix64(total + sum);
  return total;
}

DatasetView view_of(const MappedFile& file, const StoredCounts& counts) {
  const Layout at = layout_of(counts);
  return {array_of<std::uint64_t>(file, at.feature_offsets, counts.rows + 1),
          array_of<std::uint32_t>(file, at.feature_ids, counts.features),
          array_of<float>(file, at.feature_values, counts.features),
          array_of<std::uint64_t>(file, at.label_offsets, counts.rows + 1),
          array_of<std::uint32_t>(file, at.label_ids, counts.labels),
          array_of<float>(file, at.weights, counts.weights)};
}

// Whether the ids of the rows [first, last) ascend within each row and are below `bound`. Branch-free over
// the ids: wherever an id does not exceed its predecessor, a row must begin.
bool good_ids(std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> ids, std::size_t first,
              std::size_t last, std::uint64_t bound) {
  const std::uint64_t begin = offsets[first], end = offsets[last];
  std::uint32_t largest = begin < end ? ids[begin] : 0, descents = 0, at_rows = 0;
  for (std::uint64_t i = begin + 1; i < end; ++i) {
    largest = std::max(largest, ids[i]);
    descents += ids[i] <= ids[i - 1];
  }
  for (std::size_t row = first + 1; row < last; ++row) {
    const std::uint64_t i = offsets[row];
    at_rows += i > begin && i < end && i != offsets[row - 1] && ids[i] <= ids[i - 1];
  }
  return (begin == end || largest < bound) && descents == at_rows;
}

// Checks the invariants of a Dataset's entries.
bool good_entries(const DatasetView& view, const CacheHeader& header, int threads) {
  const StoredSizes& sizes = header.sizes;
  std::atomic<bool> good = true;
  const std::uint64_t rows = header.counts.rows;
  parallel_for((rows + kRowsToCheck - 1) / kRowsToCheck, threads, [&](std::size_t task, int) {
    const std::size_t first = task * kRowsToCheck, last = std::min<std::size_t>(rows, first + kRowsToCheck);
    const std::uint64_t begin = view.feature_offsets[first];
    if (good_ids(view.feature_offsets, view.feature_ids, first, last, sizes.feature_bound) &&
        all_finite(view.feature_values.subspan(begin, view.feature_offsets[last] - begin)) &&
        good_ids(view.label_offsets, view.label_ids, first, last, sizes.label_bound)) {
      return;
    }
    good = false;
  });
  return good;
}

// Checks the data checksum, if there is one, and the offsets and weights; of a small file also all entries.
bool has_valid_arrays(const MappedFile& file, const CacheHeader& header, int threads) {
  const bool small = header.file_bytes <= kSummedBytes;
  if (header.has_data_checksum != 0 && sum_data(file, threads, false) != header.data_checksum) return false;
  const DatasetView view = view_of(file, header.counts);
  return is_ascending(view.feature_offsets, header.counts.features) &&
         is_ascending(view.label_offsets, header.counts.labels) && all_finite(view.weights) &&
         std::ranges::none_of(view.weights, [](float weight) { return weight < 0; }) &&
         (!small || good_entries(view, header, threads));
}

std::optional<CacheHeader> read_header(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return {};
  CacheHeader header;
  const ssize_t got = read_at(descriptor, reinterpret_cast<char*>(&header), sizeof header, 0);
  if (got != static_cast<ssize_t>(sizeof header)) return {};
  if (!is_sound(header, static_cast<std::uint64_t>(status.st_size))) return {};
  return header;
}

}  // namespace

void CacheSink::start(const CsrCounts& total, int threads) {
  threads_ = threads;
  total_ = total;
  scratch_.resize(static_cast<std::size_t>(threads));
  file_.resize(0);  // the first offset is the zero of a file hole
  file_.resize(layout_of(stored(total)).end);
}

// Gives the thread buffers for `count` rows and entries; close() writes them behind those counted in
// `before`.
CsrRoom CacheSink::open(const CsrCounts& before, const CsrCounts& count, int thread) {
  Scratch& room = scratch_[static_cast<std::size_t>(thread)];
  room.before = before;
  room.count = count;
  room.feature_ends.resize(count.rows);
  room.feature_ids.resize(count.features);
  room.feature_values.resize(count.features);
  room.label_ends.resize(count.rows);
  room.label_ids.resize(count.labels);
  room.weights.resize(count.weights);
  return {room.feature_ends.data(), room.feature_ids.data(), room.feature_values.data(),
          room.label_ends.data(),   room.label_ids.data(),   room.weights.data()};
}

// Writes the thread's buffers to their positions in the arrays. The end of row i is offset i + 1.
void CacheSink::close(int thread) {
  const Scratch& room = scratch_[static_cast<std::size_t>(thread)];
  const Layout at = layout_of(stored(total_));
  const auto write = [&](std::uint64_t array, std::uint64_t first, const auto& values) {
    const std::size_t size = sizeof values[0];
    file_.write_at(array + first * size, bytes_of(values));
  };
  write(at.feature_offsets, room.before.rows + 1, room.feature_ends);
  write(at.feature_ids, room.before.features, room.feature_ids);
  write(at.feature_values, room.before.features, room.feature_values);
  write(at.label_offsets, room.before.rows + 1, room.label_ends);
  write(at.label_ids, room.before.labels, room.label_ids);
  write(at.weights, room.before.weights, room.weights);
}

// Writes the header, last. Only files of up to kSummedBytes get a checksum of their arrays.
void CacheSink::finish(const CacheKey& key, const CsrSizes& sizes, const ReadReport& report) {
  CacheHeader header;
  header.key = key;
  header.counts = stored(total_);
  header.sizes = stored(sizes);
  header.unknown_features = report.unknown_features;
  header.unknown_labels = report.unknown_labels;
  store_warnings(report, header);
  header.file_bytes = layout_of(stored(total_)).end;
  if (header.file_bytes <= kSummedBytes) {
    const MappedFile file(file_.descriptor(), header.file_bytes, "");
    header.has_data_checksum = file.is_open() ? 1 : 0;
    if (file.is_open()) header.data_checksum = sum_data(file, threads_, true);
  }
  header.checksum = checksum(header);
  file_.write_at(0, bytes_of(std::span(&header, 1)));
}

// Maps a cache file as a data set; nullopt where it is of another key, or its content does not pass the
// check.
std::optional<Dataset> map_cache(int descriptor, const std::string& path, const CacheKey& key,
                                 const ReadOptions& options, CacheCheck check) {
  const std::optional<CacheHeader> header = read_header(descriptor);
  if (!header || header->key != key || !is_allowed(header->sizes, options)) return {};
  const auto file = std::make_shared<const MappedFile>(descriptor, header->file_bytes, path);
  if (!file->is_open()) return {};
  if (!fits_in_memory(header->file_bytes)) file->advise(file->bytes(), MADV_RANDOM);
  if (check == CacheCheck::kAll && !has_valid_arrays(*file, *header, resolve_threads(options.threads)))
    return {};
  if (options.report != nullptr) {
    options.report->unknown_features = header->unknown_features;
    options.report->unknown_labels = header->unknown_labels;
    restore_warnings(*header, *options.report);
  }
  return Dataset(file, view_of(*file, header->counts),
                 chosen_size(options.feature_limit, header->sizes.feature_count),
                 chosen_size(options.label_limit, header->sizes.label_count));
}

}  // namespace slide
