#include "engine/base/summed_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/base/error.h"

namespace slide {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kReadBytes = std::size_t{1} << 18;

// Throws InputError unless the footer has the end marker and the checksum `sum`.
void check_sum(std::string_view footer, std::uint32_t sum, const ByteReader& in) {
  if (!footer.ends_with(kEndMarker)) in.refuse("it is cut off");
  std::uint32_t stored = 0;
  std::memcpy(&stored, footer.data(), sizeof stored);
  if (stored != sum) in.refuse("wrong checksum");
}

}  // namespace

std::uint32_t crc_32(std::uint32_t crc, std::string_view bytes) {
  if (bytes.empty()) return crc;  // for zlib, a null pointer means a fresh start
  return static_cast<std::uint32_t>(
      crc32_z(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::uint32_t join_crc_32(std::uint32_t crc, std::uint32_t next, std::uint64_t length) {
  return static_cast<std::uint32_t>(crc32_combine(crc, next, static_cast<z_off_t>(length)));
}

SummedFile::SummedFile(const std::string& path) : file_(path) {
  buffer_.reserve(kBufferBytes);
}

void SummedFile::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() > kBufferBytes) {
    pass_on(bytes);
  } else {
    buffer_.append(bytes);
  }
}

void SummedFile::flush() {
  pass_on(buffer_);
  buffer_.clear();
}

void SummedFile::pass_on(std::string_view bytes) {
  crc_ = crc_32(crc_, bytes);
  file_.write(bytes);
}

void SummedFile::finish() {
  flush();
  put(crc_);
  write(kEndMarker);
  flush();
  file_.finish();
}

SummedReader::SummedReader(Descriptor file, std::uint64_t file_bytes, std::string subject, std::string advice)
    : ByteReader({}, std::move(subject), std::move(advice)), file_(std::move(file)), buffer_(kReadBytes) {
  if (file_bytes < kFooterBytes) refuse("it is cut off");
  behind_ = file_bytes - kFooterBytes;
  posix_fadvise(file_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
}

void SummedReader::check_end() const {
  std::array<char, kEndMarker.size()> end{};
  const ssize_t got = read_at(file_.get(), end.data(), end.size(), at_ + left() + kFooterBytes - end.size());
  if (got != static_cast<ssize_t>(end.size()) || std::string_view(end.data(), end.size()) != kEndMarker)
    refuse("it is cut off");
}

void SummedReader::read(char* to, std::size_t bytes) {
  const ssize_t got = read_at(file_.get(), to, bytes, at_);
  if (got < 0) refuse(fmt::format("it cannot be read: {}", std::strerror(errno)));
  if (static_cast<std::size_t>(got) < bytes) refuse("it became shorter while it was read");
  at_ += bytes;
}

// Reads in pieces that are summed while in cache. Small reads use the buffer.
std::size_t SummedReader::bring(char* to, std::size_t bytes) {
  const bool direct = bytes >= buffer_.size();
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(behind_, buffer_.size()));
  char* piece = direct ? to : buffer_.data();
  read(piece, count);
  crc_ = crc_32(crc_, {piece, count});
  behind_ -= count;
  if (direct) return count;
  rest_ = {piece, count};
  return 0;
}

std::uint32_t SummedReader::finish() {
  skip(left());
  std::array<char, kFooterBytes> footer{};
  read(footer.data(), footer.size());
  check_sum(std::string_view(footer.data(), footer.size()), crc_, *this);
  return crc_;
}

}  // namespace slide
