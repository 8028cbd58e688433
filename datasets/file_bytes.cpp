#include "datasets/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>

#include "engine/base/atomic_file.h"
#include "engine/base/descriptor.h"
#include "engine/base/error.h"

namespace slide {

namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;
constexpr std::size_t kInflateBytes = std::size_t{1} << 22;

Descriptor open_for_reading(const std::string& path) {
  Descriptor descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.is_open()) return descriptor;
  const int reason = errno;
  if (reason == ENOENT) fail_input("{}: no such file; check the path of the data", path);
  fail_input("{}: cannot be opened ({}); check the path and its permissions", path, std::strerror(reason));
}

std::string read_all(int descriptor, const std::string& path) {
  std::string buffer;
  std::size_t used = 0;
  while (true) {
    if (buffer.size() - used < kReadBytes) buffer.resize(std::max(2 * buffer.size(), 2 * kReadBytes));
    const ssize_t got = read(descriptor, buffer.data() + used, buffer.size() - used);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      fail_input("{}: cannot be read ({}); check the file and its disk", path, std::strerror(errno));
    used += static_cast<std::size_t>(got);
  }
  buffer.resize(used);
  return buffer;
}

// An inflating zlib stream with the gzip wrapper.
class Inflater {
 public:
  Inflater() {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) fail_run("out of memory: zlib could not be started");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream* operator->() { return &stream_; }
  z_stream* get() { return &stream_; }

 private:
  z_stream stream_{};
};

// Takes a piece of unpacked bytes, after which the input that is left starts at `input`.
using Output = std::function<void(std::string_view piece, const char* input)>;

// Unpacks gzip data piece by piece.
class Unpacker {
 public:
  Unpacker(std::string_view input, const std::string& origin, const Output& output)
      : input_(input), origin_(origin), output_(output), piece_(kInflateBytes, '\0') {}

  void run() {
    do {
      unpack_member();
    } while (is_gzip(input_));
  }

 private:
  // Unpacks one gzip member from the front of the input.
  void unpack_member() {
    Inflater stream;
    int status = Z_OK;
    while (status != Z_STREAM_END) {
      const std::size_t step = std::min(input_.size(), kInflateBytes);
      stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));
      stream->avail_in = static_cast<uInt>(step);
      stream->next_out = reinterpret_cast<Bytef*>(piece_.data());
      stream->avail_out = static_cast<uInt>(piece_.size());
      status = inflate(stream.get(), Z_NO_FLUSH);
      input_.remove_prefix(step - stream->avail_in);
      const std::string_view piece(piece_.data(), piece_.size() - stream->avail_out);
      unpacked_ += piece.size();
      output_(piece, input_.data());
      check(status, stream->msg);
    }
  }

  void check(int status, const char* message) const {
    if (status == Z_BUF_ERROR && input_.empty()) {
      fail_input("{}: the gzip data is cut off after {} unpacked bytes; fetch the file again", origin_,
                 unpacked_);
    }
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      fail_input("{}: the gzip data is damaged ({}); fetch the file again", origin_,
                 message != nullptr ? message : "unknown reason");
    }
  }

  std::string_view input_;
  const std::string& origin_;
  const Output& output_;
  std::string piece_;
  std::uint64_t unpacked_ = 0;
};

}  // namespace

bool is_gzip(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b");
}

std::string unpack_gzip(std::string_view bytes, const std::string& origin) {
  std::string text;
  const Output append = [&](std::string_view piece, const char*) { text.append(piece); };
  Unpacker(bytes, origin, append).run();
  return text;
}

FileBytes::FileBytes(const std::string& path, bool spill) {
  const Descriptor file = open_for_reading(path);
  map_or_read(file.get(), path);
  if (!is_gzip(text())) return;
  try {
    if (spill) {
      unpack_to_disk(path);
    } else {
      buffer_ = unpack_gzip(text(), path);
      unmap();
    }
  } catch (...) {
    unmap();
    throw;
  }
}

FileBytes::~FileBytes() {
  unmap();
}

void FileBytes::map_or_read(int descriptor, const std::string& path) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail_input("{}: cannot be read ({})", path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) fail_input("{}: is a folder; name a data file inside it", path);
  const bool mapped = S_ISREG(status.st_mode) && status.st_size > 0 &&
                      map(descriptor, static_cast<std::size_t>(status.st_size));
  if (!mapped) buffer_ = read_all(descriptor, path);
}

bool FileBytes::map(int descriptor, std::size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (memory == MAP_FAILED) return false;
  mapping_ = memory;
  mapped_bytes_ = bytes;
  madvise(memory, bytes, MADV_WILLNEED);
  return true;
}

void FileBytes::unpack_to_disk(const std::string& path) {
  AtomicFile file(path + ".unpacked");
  std::uint64_t bytes = 0;
  const char* packed = text().data();
  const Output write = [&](std::string_view piece, const char* input) {
    file.write(piece);
    bytes += piece.size();
    let_go({packed, input});
    packed = input;
  };
  Unpacker(text(), path, write).run();
  unmap();
  buffer_.clear();
  if (bytes > 0 && !map(file.descriptor(), bytes)) fail_run("{}: cannot be mapped into memory", path);
}

void FileBytes::let_go(std::string_view part) const noexcept {
  if (mapping_ == nullptr || part.empty()) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data()) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(part.data()) + part.size();
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void FileBytes::unmap() noexcept {
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
  mapping_ = nullptr;
}

}  // namespace slide
