// The line that `slide predict` prints for a sample: `label:score` entries. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/number_text.h"

namespace slide::cli {

// Output line of one sample. Memory is kept between samples.
class ScoreLine {
 public:
  void clear() { size_ = 0; }
  void add(char separator, std::uint32_t label, double score) {
    finish(write_whole(label, begin(separator, kNumberRoom)), score);
  }
  void add(char separator, std::string_view label, double score) {
    char* at = begin(separator, label.size());
    finish(std::copy(label.begin(), label.end(), at), score);
  }
  // Begins a line with the name of its user; labels follow after TABs.
  void begin_with(std::string_view user) {
    clear();
    std::copy(user.begin(), user.end(), begin('\t', user.size()));
    size_ = user.size();
  }
  void end() {
    if (bytes_.empty()) bytes_.resize(1);
    bytes_[size_++] = '\n';
  }
  // Sets the whole line.
  void set(std::string_view text) {
    clear();
    std::copy(text.begin(), text.end(), begin(' ', text.size()));
    size_ = text.size();
  }
  std::string_view text() const { return {bytes_.data(), size_}; }

 private:
  // Start of the space for a label of up to `length` bytes.
  char* begin(char separator, std::size_t length) {
    const std::size_t room = size_ + length + kNumberRoom + 3;  // separator, colon, end of line
    if (bytes_.size() < room) bytes_.resize(2 * room);
    if (size_ > 0) bytes_[size_++] = separator;
    return bytes_.data() + size_;
  }
  void finish(char* label_end, double score) {
    *label_end++ = ':';
    size_ = static_cast<std::size_t>(write_six_digits(score, label_end) - bytes_.data());
  }

  std::vector<char> bytes_;
  std::size_t size_ = 0;
};

}  // namespace slide::cli
