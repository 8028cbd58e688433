// Arrays in NumPy's .npy format, the members of an .npz archive. Functions are safe to call from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slide {

// Throws InputError that names the archive at `path` and says what to save instead.
[[noreturn]] void fail_npz(const std::string& path, const std::string& what);

// An array of numbers or bytes in the order of this machine. Immutable.
class NpyArray {
 public:
  // Takes the bytes of the array `name` of the archive at `path`. Throws InputError when they are no array,
  // or not all of it.
  NpyArray(std::string bytes, const std::string& name, const std::string& path);

  // The items as they lie in memory.
  std::string_view items() const { return std::string_view(bytes_).substr(begin_); }
  // The items as numbers; false when they are none. Negative ones become huge as whole numbers. Throw
  // InputError when there is no memory for them.
  bool whole_numbers(std::vector<std::uint64_t>& values) const;
  bool numbers(std::vector<float>& values) const;

 private:
  void read_header(std::string_view header, const std::string& name, const std::string& path);
  void read_type(std::string_view header, const std::string& name, const std::string& path);
  void read_shape(std::string_view header, const std::string& name, const std::string& path);
  std::size_t width(const std::string& name, const std::string& path) const;
  template <class T, class To>
  void convert(std::vector<To>& values) const;
  template <class To>
  bool convert_whole(std::vector<To>& values) const;

  std::string path_;  // of the archive
  std::string bytes_;
  std::size_t begin_ = 0;  // of the items
  std::string type_;       // without byte order: i4, f8, S3
  std::uint64_t count_ = 0;
};

// The bytes of an array: `type` as NumPy writes it, <i4; `shape` as a Python tuple, (3,).
std::string npy_bytes(std::string_view type, std::string_view shape, std::string_view items);

}  // namespace slide
