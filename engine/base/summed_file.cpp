#include "engine/base/summed_file.h"

#include <zlib.h>

#include <cstring>

namespace slide {

namespace {

constexpr std::string_view kEndMarker = "SLIDEEND";
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

}  // namespace

std::uint32_t crc_32(std::uint32_t crc, std::string_view bytes) {
  if (bytes.empty()) return crc;  // zlib takes an empty view's null pointer for a fresh start
  return static_cast<std::uint32_t>(
      crc32_z(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
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

std::uint32_t check_footer(std::string_view file, const ByteReader& in) {
  if (file.size() < kFooterBytes || !file.ends_with(kEndMarker)) in.refuse("it is cut off");
  const std::string_view summed = file.substr(0, file.size() - kFooterBytes);
  std::uint32_t sum = 0;
  std::memcpy(&sum, file.data() + summed.size(), sizeof sum);
  if (sum != crc_32(0, summed)) in.refuse("wrong checksum");
  return sum;
}

}  // namespace slide
