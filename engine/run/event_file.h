// Event file for TensorBoard: scalars by step, as tf.summary writes them. The format is TFRecord (length,
// masked CRC-32C of it, content, masked CRC-32C of it; little-endian) of Event messages (protocol buffers):
//   Event {1: wall_time double, 2: step int64, 3: file_version string, 5: summary Summary}
//   Summary {1: repeated Value}; Value {1: tag string, 2: simple_value float}
// One thread at a time.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace slide {

// CRC-32C (Castagnoli) of bytes.
std::uint32_t crc_32c(std::string_view bytes);

class EventFile {
 public:
  using Scalar = std::pair<std::string, double>;  // tag, value

  // Continues the file at `path` after at most `kept` events, as many as are whole there; creates it where it
  // is missing or no event file. Throws Error where it cannot be written, as does add().
  EventFile(std::string path, std::size_t kept);

  // Events that the file had and keeps.
  std::size_t kept() const { return kept_; }
  // Appends one event and flushes it. `time`: seconds since 1970.
  void add(double time, std::int64_t step, std::span<const Scalar> scalars);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void append(std::string_view event);

  std::string path_;
  std::size_t kept_ = 0;
  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace slide
