#include "engine/cli/line_source.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>

#include "engine/base/error.h"
#include "engine/base/input_file.h"

namespace slide::cli {

namespace {
constexpr std::size_t kReadBytes = std::size_t{1} << 16;
}

LineSource::LineSource(int descriptor) : descriptor_(descriptor) {
  refuse_endless(descriptor, kStandardInput);
}

// Appends what the next read() returns to the buffer; false at the end of input.
bool LineSource::read_more() {
  const std::size_t before = buffer_.size();
  buffer_.resize(before + kReadBytes);
  ssize_t bytes = 0;
  do {
    bytes = read(descriptor_, buffer_.data() + before, kReadBytes);
  } while (bytes < 0 && errno == EINTR);
  buffer_.resize(before + static_cast<std::size_t>(bytes > 0 ? bytes : 0));
  if (bytes < 0)
    fail_input("standard input: cannot be read ({}); check what it comes from", std::strerror(errno));
  at_end_ = bytes == 0;
  return !at_end_;
}

bool LineSource::has_more_now() const {
  pollfd wanted = {descriptor_, POLLIN, 0};
  return poll(&wanted, 1, 0) > 0;
}

// Reads until there is a whole line and either no more input waits or the buffer has kMaxBytes; keeps a
// begun last line for the next call.
std::string_view LineSource::next() {
  buffer_.erase(0, used_);
  std::size_t searched = 0, whole = 0;  // bytes up to the end of the last whole line
  while (true) {
    const std::size_t last = std::string_view(buffer_).substr(searched).rfind('\n');
    if (last != std::string_view::npos) whole = searched + last + 1;
    searched = buffer_.size();
    if (at_end_ || (whole > 0 && (buffer_.size() >= kMaxBytes || !has_more_now()))) break;
    read_more();
  }
  used_ = at_end_ ? buffer_.size() : whole;
  return std::string_view(buffer_).substr(0, used_);
}

std::string_view SharedLines::next() {
  if (cluster_.size() == 1) return source_.next();
  if (cluster_.rank() == 0) lines_ = source_.next();
  std::uint64_t bytes = lines_.size();
  cluster_.broadcast(std::as_writable_bytes(std::span(&bytes, 1)), 0);
  lines_.resize(bytes);
  if (bytes > 0) cluster_.broadcast(std::as_writable_bytes(std::span(lines_)), 0);
  return lines_;
}

}  // namespace slide::cli
