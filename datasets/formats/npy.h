// Arrays in NumPy's .npy format, as files or members of an .npz archive. Functions are safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slide {

// Throws InputError that names the archive at `path` and advises what to save instead.
[[noreturn]] void fail_npz(const std::string& path, const std::string& what);

// Name of an array and advice, for messages.
struct NpyName {
  std::string path;  // of its file
  std::string name;
  const char* advice;

  // Throws InputError "PATH: WHAT; ADVICE".
  [[noreturn]] void fail(const std::string& what) const;
};
NpyName npz_member(const std::string& path, const std::string& name);

// Header of an array.
struct NpyHeader {
  std::string type;                  // without byte order: i4, f8, S3
  std::vector<std::uint64_t> shape;  // empty for a scalar
  bool by_column = false;            // Fortran order
  std::size_t begin = 0;             // byte offset of the items
  std::uint64_t count = 0;           // number of items
};
// Throws InputError where the bytes are not an array of exactly this length.
NpyHeader read_npy_header(std::string_view bytes, const NpyName& name);

// An array of numbers or bytes in native byte order. Immutable.
class NpyArray {
 public:
  // Takes the bytes of an array. Throws InputError as read_npy_header().
  NpyArray(std::string bytes, const NpyName& name);
  // The same for the array `name` of the archive at `path`.
  NpyArray(std::string bytes, const std::string& name, const std::string& path)
      : NpyArray(std::move(bytes), npz_member(path, name)) {}

  const NpyHeader& header() const { return header_; }
  // The items as in memory.
  std::string_view items() const { return std::string_view(bytes_).substr(header_.begin); }
  // Convert the items; return false where they are not numbers of this kind. Negative integers become huge.
  // Throw InputError where memory is exhausted.
  bool whole_numbers(std::vector<std::uint64_t>& values) const;
  bool numbers(std::vector<float>& values) const;

 private:
  template <class T, class To>
  void convert(std::vector<To>& values) const;
  template <class To>
  bool convert_whole(std::vector<To>& values) const;

  std::string path_;  // of the file
  std::string bytes_;
  NpyHeader header_;
};

// Whether the bytes begin like an array.
bool is_npy(std::string_view bytes);

// The bytes of an array: `type` in NumPy's notation, <i4; `shape` as a Python tuple, (3,).
std::string npy_bytes(std::string_view type, std::string_view shape, std::string_view items);

}  // namespace slide
