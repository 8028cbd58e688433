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
#include <memory>
#include <optional>

#include "engine/base/atomic_file.h"
#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/base/free_memory.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 22;    // of a file, by a thread at once
constexpr std::size_t kStreamBytes = std::size_t{1} << 20;  // of a pipe, at least
constexpr std::size_t kInflateBytes = std::size_t{1} << 17;

Descriptor open_for_reading(const std::string& path) {
  Descriptor descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.is_open()) return descriptor;
  const int reason = errno;
  if (reason == ENOENT) fail_input("{}: no such file; check the path of the data", path);
  fail_input("{}: cannot be opened ({}); check the path and its permissions", path, std::strerror(reason));
}

struct stat status_of(int descriptor, const std::string& path) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail_input("{}: cannot be read ({})", path, std::strerror(errno));
  return status;
}

// Whether there is room for so many bytes, and as many again for what is made of them.
bool fits(std::size_t bytes) {
  if (double(bytes) <= kLittleMemory) return true;
  const std::optional<double> free = free_memory();
  return !free || double(bytes) <= *free / 2;
}

[[noreturn]] void fail_read(const std::string& path) {
  fail_input("{}: cannot be read ({}); check the file and its disk", path, std::strerror(errno));
}

// The next bytes of a stream, up to `bytes`; 0 at its end.
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

// A regular file of this status, in parallel.
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

// A pipe or a device, to its end.
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
      : input_(input),
        origin_(origin),
        output_(output),
        piece_(std::make_unique_for_overwrite<char[]>(kInflateBytes)) {}

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
      stream->next_out = reinterpret_cast<Bytef*>(piece_.get());
      stream->avail_out = static_cast<uInt>(kInflateBytes);
      status = inflate(stream.get(), Z_NO_FLUSH);
      input_.remove_prefix(step - stream->avail_in);
      const std::string_view piece(piece_.get(), kInflateBytes - stream->avail_out);
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
  std::unique_ptr<char[]> piece_;  // of kInflateBytes; only what is unpacked is ever touched
  std::uint64_t unpacked_ = 0;
};

}  // namespace

bool is_gzip(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b");
}

std::string unpack_gzip(std::string_view bytes, const std::string& origin) {
  std::string text;
  const Output append = [&](std::string_view piece, const char*) {
    const std::size_t size = text.size() + piece.size();
    if (size > text.capacity()) {
      const std::size_t room = std::max(2 * text.capacity(), size);
      require_room(double(room), origin);
      text.reserve(room);
    }
    text.append(piece);
  };
  Unpacker(bytes, origin, append).run();
  return text;
}

FileBytes::FileBytes(const std::string& path, bool spill) {
  open_whole(path, spill);
  if (!is_gzip(text())) return;
  if (spill) {
    unpack_to_disk(path);
    return;
  }
  streamed_ = unpack_gzip(text(), path);
  mapped_ = {};
  read_ = {};
}

std::string_view FileBytes::text() const {
  if (mapped_.is_open()) return mapped_.bytes();
  return read_.empty() ? std::string_view(streamed_) : std::string_view(read_.data(), read_.size());
}

void FileBytes::open_whole(const std::string& path, bool spill) {
  const Descriptor file = open_for_reading(path);
  const struct stat status = status_of(file.get(), path);
  if (S_ISDIR(status.st_mode)) fail_input("{}: is a folder; name a data file inside it", path);
  const auto bytes = static_cast<std::size_t>(S_ISREG(status.st_mode) ? status.st_size : 0);
  if (bytes > 0 && (spill || !fits(bytes))) mapped_ = MappedFile(file.get(), bytes, path);
  if (mapped_.is_open()) {
    mapped_.advise(text(), MADV_WILLNEED);
  } else if (bytes > 0) {
    read_ = read_file(file.get(), status, path);
  } else {
    streamed_ = read_stream(file.get(), path);
  }
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
  streamed_.clear();
  mapped_ = MappedFile(file.descriptor(), bytes, path);
  if (bytes > 0 && !mapped_.is_open()) fail_run("{}: cannot be mapped into memory", path);
}

void FileBytes::let_go(std::string_view part) const noexcept {
  mapped_.advise(part, MADV_DONTNEED);
}

}  // namespace slide
