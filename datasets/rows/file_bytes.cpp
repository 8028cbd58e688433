#include "datasets/rows/file_bytes.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>

#include "datasets/rows/data_parts.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/text_encoding.h"
#include "datasets/rows/unpack.h"
#include "engine/base/atomic_file.h"
#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/base/free_memory.h"
#include "engine/base/input_file.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 22;    // bytes per read of a file
constexpr std::size_t kStreamBytes = std::size_t{1} << 20;  // min bytes per read of a pipe

Descriptor open_for_reading(const std::string& path, const char* advice) {
  Descriptor descriptor = open_input(path);
  if (descriptor.is_open()) return descriptor;
  const int reason = errno;
  if (reason == ENOENT)
    fail_input("{}: no such file{}; {}", path, is_pattern(path) ? ", and the pattern matches none" : "",
               advice);
  fail_input("{}: cannot be opened ({}); check the path and its permissions", path, std::strerror(reason));
}

struct stat status_of(int descriptor, const std::string& path) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail_input("{}: cannot be read ({})", path, std::strerror(errno));
  return status;
}

// Whether memory has room for `bytes` bytes, and as many again for the data made from them.
bool fits(std::size_t bytes) {
  if (double(bytes) <= kLittleMemory) return true;
  const std::optional<double> free = free_memory();
  return !free || double(bytes) <= *free / 2;
}

[[noreturn]] void fail_read(const std::string& path) {
  fail_input("{}: cannot be read ({}); check the file and its disk", path, std::strerror(errno));
}

// Reads up to `bytes` bytes of a stream; 0 at its end.
std::size_t read_some(int descriptor, char* to, std::size_t bytes, const std::string& path) {
  while (true) {
    const ssize_t got = read(descriptor, to, bytes);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) fail_read(path);
  }
}

[[noreturn]] void fail_changed(const std::string& path) {
  fail_run("{}: it changed while it was read; start again when it is whole", path);
}

// Reads a regular file in parallel.
AlignedArray<char> read_file(int descriptor, const struct stat& status, const std::string& path) {
  AlignedArray<char> bytes(static_cast<std::size_t>(status.st_size));
  parallel_for(
      (bytes.size() + kReadBytes - 1) / kReadBytes, available_threads(), [&](std::size_t piece, int) {
        const std::size_t begin = piece * kReadBytes, end = std::min(bytes.size(), begin + kReadBytes);
        const ssize_t got = read_at(descriptor, bytes.data() + begin, end - begin, begin);
        if (got < 0) fail_read(path);
        if (static_cast<std::size_t>(got) < end - begin) fail_changed(path);
      });
  const struct stat after = status_of(descriptor, path);
  if (after.st_size != status.st_size || after.st_mtim.tv_sec != status.st_mtim.tv_sec ||
      after.st_mtim.tv_nsec != status.st_mtim.tv_nsec)
    fail_changed(path);
  return bytes;
}

// Reads a pipe or device to its end.
std::string read_stream(int descriptor, const std::string& path) {
  std::string buffer;
  std::size_t used = 0;
  while (true) {
    if (buffer.size() - used < kStreamBytes) buffer.resize(std::max(2 * buffer.size(), 2 * kStreamBytes));
    const std::size_t got = read_some(descriptor, buffer.data() + used, buffer.size() - used, path);
    if (got == 0) break;
    used += got;
  }
  buffer.resize(used);
  return buffer;
}

}  // namespace

// Opens the file as it is, and decompresses it to memory or with kSpilled to disk.
FileBytes::FileBytes(const std::string& path, Mode mode, const char* advice) {
  open_whole(path, mode != kRead, advice);
  if (is_packed(text()) && mode == kSpilled) {
    unpack_to_disk(path);
  } else if (is_packed(text())) {
    streamed_ = unpack(text(), path);
    mapped_ = {};
    read_ = {};
  }
  refuse_foreign_text(path);
}

// Throws InputError for archives of other packers, UTF-16 and UTF-32, and lines that end in CR alone.
void FileBytes::refuse_foreign_text(const std::string& path) const {
  if (const auto packing = other_packing(text()))
    fail_input("{}:1:1: this is packed by {}; unpack it, or pack it by gzip", path, *packing);
  if (const auto wide = marked_wide_encoding(text()))
    fail_input("{}:1:1: this is {}", path, in_wide_encoding(*wide));
  if (has_lines_of_cr(text()))
    fail_input(
        "{}:1:1: its lines end in CR alone, and would be one; store it with line feeds (tr '\\r' '\\n')",
        path);
}

std::string_view FileBytes::text() const {
  return without_byte_order_mark(content());
}

std::string_view FileBytes::content() const {
  if (mapped_.is_open()) return mapped_.bytes();
  return read_.empty() ? std::string_view(streamed_) : std::string_view(read_.data(), read_.size());
}

// Maps or reads a file of known size; a pipe or device has none and is read to its end.
void FileBytes::open_whole(const std::string& path, bool map, const char* advice) {
  const Descriptor file = open_for_reading(path, advice);
  const struct stat status = status_of(file.get(), path);
  if (S_ISDIR(status.st_mode)) fail_input("{}: is a folder; name a data file inside it", path);
  const auto bytes = static_cast<std::size_t>(S_ISREG(status.st_mode) ? status.st_size : 0);
  if (bytes > 0 && (map || !fits(bytes))) mapped_ = MappedFile(file.get(), bytes, path);
  if (mapped_.is_open()) {
    mapped_.advise(text(), MADV_WILLNEED);
  } else if (bytes > 0) {
    read_ = read_file(file.get(), status, path);
  } else {
    streamed_ = read_stream(file.get(), path);
  }
}

// Decompresses into a file of its own and maps that; releases input pages as it goes.
void FileBytes::unpack_to_disk(const std::string& path) {
  AtomicFile file(path + ".unpacked", FileUse::kOwn);
  std::uint64_t bytes = 0;
  const char* packed = text().data();
  unpack(text(), path, [&](std::string_view piece, const char* input) {
    file.write(piece);
    bytes += piece.size();
    release_pages({packed, input});
    packed = input;
    return true;
  });
  streamed_.clear();
  mapped_ = MappedFile(file.descriptor(), bytes, path);
  if (bytes > 0 && !mapped_.is_open()) fail_run("{}: cannot be mapped into memory", path);
}

void FileBytes::release_pages(std::string_view part) const noexcept {
  mapped_.advise(part, MADV_DONTNEED);
}

}  // namespace slide
