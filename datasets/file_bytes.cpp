#include "datasets/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/base/error.h"

namespace slide {

namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;
constexpr std::size_t kInflateBytes = std::size_t{1} << 22;
constexpr std::size_t kMaximalStep = std::size_t{1} << 30;  // zlib counts in 32 bits

// Closes a file descriptor at the end of a scope.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

int open_for_reading(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) return descriptor;
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

// Inflates one gzip member from the front of `input` onto `output`, and takes its bytes off `input`.
void unpack_member(std::string_view& input, std::string& output, const std::string& origin) {
  Inflater stream;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    const std::size_t step = std::min(input.size(), kMaximalStep);
    const std::size_t used = output.size();
    output.resize(used + std::max(kInflateBytes, std::min(used, kMaximalStep)));
    stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream->avail_in = static_cast<uInt>(step);
    stream->next_out = reinterpret_cast<Bytef*>(output.data() + used);
    stream->avail_out = static_cast<uInt>(output.size() - used);
    status = inflate(stream.get(), Z_NO_FLUSH);
    input.remove_prefix(step - stream->avail_in);
    output.resize(output.size() - stream->avail_out);
    if (status == Z_BUF_ERROR && input.empty()) {
      fail_input("{}: the gzip data is cut off after {} unpacked bytes; fetch the file again", origin,
                 output.size());
    }
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      fail_input("{}: the gzip data is damaged ({}); fetch the file again", origin,
                 stream->msg != nullptr ? stream->msg : "unknown reason");
    }
  }
}

}  // namespace

bool is_gzip(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b");
}

std::string unpack_gzip(std::string_view bytes, const std::string& origin) {
  std::string output;
  do {
    unpack_member(bytes, output, origin);
  } while (is_gzip(bytes));
  return output;
}

FileBytes::FileBytes(const std::string& path) {
  const Descriptor file(open_for_reading(path));
  map_or_read(file.get(), path);
  if (!is_gzip(text())) return;
  try {
    buffer_ = unpack_gzip(text(), path);
  } catch (...) {
    unmap();
    throw;
  }
  unmap();
}

FileBytes::~FileBytes() {
  unmap();
}

void FileBytes::map_or_read(int descriptor, const std::string& path) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail_input("{}: cannot be read ({})", path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) fail_input("{}: is a folder; name a data file inside it", path);
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto bytes = static_cast<std::size_t>(status.st_size);
    void* memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory != MAP_FAILED) {
      mapping_ = memory;
      mapped_bytes_ = bytes;
      madvise(memory, bytes, MADV_WILLNEED);
      return;
    }
  }
  buffer_ = read_all(descriptor, path);
}

void FileBytes::unmap() noexcept {
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
  mapping_ = nullptr;
}

}  // namespace slide
