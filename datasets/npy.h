// Arrays in NumPy's .npy format, alone or as members of an .npz archive. Functions are safe to call from any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slide {

// Throws InputError that names the archive at `path` and says what to save instead.
[[noreturn]] void fail_npz(const std::string& path, const std::string& what);

// What messages call an array, and what they advise.
struct NpyName {
  std::string path;  // of its file
  std::string name;
  const char* advice;

  // Throws InputError: "PATH: WHAT; ADVICE".
  [[noreturn]] void fail(const std::string& what) const;
};
NpyName npz_member(const std::string& path, const std::string& name);

// What stands before the items of an array.
struct NpyHeader {
  std::string type;                  // without byte order: i4, f8, S3
  std::vector<std::uint64_t> shape;  // none for a single item
  bool by_column = false;            // Fortran's order
  std::size_t begin = 0;             // of the items, in bytes
  std::uint64_t count = 0;           // items
};
// Throws InputError when the bytes are no array, or not all of it, or more.
NpyHeader read_npy_header(std::string_view bytes, const NpyName& name);

// An array of numbers or bytes in the order of this machine. Immutable.
class NpyArray {
 public:
  // Takes the bytes of an array. Throws InputError as read_npy_header() does.
  NpyArray(std::string bytes, const NpyName& name);
  // The same of the array `name` of the archive at `path`.
  NpyArray(std::string bytes, const std::string& name, const std::string& path)
      : NpyArray(std::move(bytes), npz_member(path, name)) {}

  const NpyHeader& header() const { return header_; }
  // The items as they lie in memory.
  std::string_view items() const { return std::string_view(bytes_).substr(header_.begin); }
  // The items as numbers; false when they are none. Negative ones become huge as whole numbers. Throw
  // InputError when there is no memory for them.
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

// Whether the bytes start like an array.
bool is_npy(std::string_view bytes);

// The bytes of an array: `type` as NumPy writes it, <i4; `shape` as a Python tuple, (3,).
std::string npy_bytes(std::string_view type, std::string_view shape, std::string_view items);

}  // namespace slide
