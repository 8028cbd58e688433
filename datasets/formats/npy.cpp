#include "datasets/formats/npy.h"

#include <algorithm>
#include <cstring>

#include "engine/base/byte_io.h"
#include "engine/base/error.h"
#include "engine/base/free_memory.h"
#include "engine/base/number_text.h"

namespace slide {

namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::uint64_t kMaxItems = std::uint64_t{1} << 56;  // more than any file can hold
constexpr const char* kAdvice = "save a CSR matrix with scipy.sparse.save_npz";

// Text after 'key': in a header (a Python dict literal); empty where it is missing.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return {};
  std::string_view value = header.substr(at + key.size() + 3);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value;
}

std::string_view required_value(std::string_view header, std::string_view key, const NpyName& name) {
  const std::string_view value = value_of(header, key);
  if (value.data() == nullptr) name.fail(fmt::format("{} has no {}", name.name, key));
  return value;
}

std::string type_of(std::string_view header, const NpyName& name) {
  std::string_view type = required_value(header, "descr", name);
  if (!type.starts_with('\'')) name.fail(name.name + " has no plain type");
  type = type.substr(1, type.find('\'', 1) - 1);
  if (type.size() < 3 || type[0] == '>')
    name.fail(fmt::format("{} has the type '{}', which is not read", name.name, type));
  return std::string(type.substr(1));
}

// The sizes of "'shape': (3, 4)", for one.
std::vector<std::uint64_t> shape_of(std::string_view header, const NpyName& name) {
  std::string_view shape = required_value(header, "shape", name);
  shape = shape.substr(0, shape.find(')'));
  if (shape.find('-') != std::string_view::npos) name.fail(name.name + " has a negative size");
  std::vector<std::uint64_t> sizes;
  for (std::size_t at = 0; (at = shape.find_first_of(kDigits, at)) != std::string_view::npos;) {
    std::uint64_t size = 0;
    for (; at < shape.size() && is_digit(shape[at]); ++at) {
      size = size * 10 + static_cast<std::uint64_t>(shape[at] - '0');
      if (size > kMaxItems) name.fail(name.name + " is cut off");
    }
    sizes.push_back(size);
  }
  return sizes;
}

// Number of items of a shape; each item takes at least one byte.
std::uint64_t count_of(const std::vector<std::uint64_t>& shape, std::size_t bytes, const NpyName& name) {
  if (std::ranges::find(shape, 0U) != shape.end()) return 0;
  std::uint64_t count = 1;
  for (const std::uint64_t size : shape) {
    if (count > bytes / size) name.fail(name.name + " is cut off");
    count *= size;
  }
  return count;
}

// Bytes per item of a type: a letter and a number, of code points of four bytes for U, of bytes else.
std::size_t width_of(const std::string& type, const NpyName& name) {
  std::size_t width = 0;
  for (const char c : std::string_view(type).substr(1)) {
    if (!is_digit(c) || width > 10'000'000)
      name.fail(fmt::format("{} has the type '{}', which is not read", name.name, type));
    width = width * 10 + static_cast<std::size_t>(c - '0');
  }
  return std::max<std::size_t>(type[0] == 'U' ? 4 * width : width, 1);
}

}  // namespace

void NpyName::fail(const std::string& what) const {
  fail_input("{}: {}; {}", path, what, advice);
}

NpyName npz_member(const std::string& path, const std::string& name) {
  return {path, name, kAdvice};
}

void fail_npz(const std::string& path, const std::string& what) {
  fail_input("{}: {}; {}", path, what, kAdvice);
}

// Header: magic bytes, version, length, then a Python dict with descr, fortran_order and shape (NumPy's NEP
// 1).
NpyHeader read_npy_header(std::string_view bytes, const NpyName& name) {
  ByteReader in(bytes, fmt::format("{}: {} is no NumPy array", name.path, name.name), name.advice);
  if (!is_npy(bytes)) in.refuse("it does not begin like one");
  in.take(kNpyMagic.size());
  // version 1 has a length of two bytes, later versions four
  const bool is_old = in.get<std::uint8_t>() == 1;
  in.get<std::uint8_t>();
  const std::size_t length = is_old ? in.get<std::uint16_t>() : in.get<std::uint32_t>();
  const std::string_view text = in.take(length);
  NpyHeader header;
  header.begin = bytes.size() - in.left();
  header.type = type_of(text, name);
  header.by_column = value_of(text, "fortran_order").starts_with("True");
  const std::size_t width = width_of(header.type, name), left = bytes.size() - header.begin;
  header.shape = shape_of(text, name);
  header.count = count_of(header.shape, left, name);
  if (left / width != header.count || left % width != 0)
    name.fail(name.name + " has another size than its header says");
  return header;
}

NpyArray::NpyArray(std::string bytes, const NpyName& name)
    : path_(name.path), bytes_(std::move(bytes)), header_(read_npy_header(bytes_, name)) {}

template <class T, class To>
void NpyArray::convert(std::vector<To>& values) const {
  require_room(double(header_.count) * sizeof(To), path_);
  values.resize(header_.count);
  const char* from = items().data();
  for (std::size_t i = 0; i < header_.count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof value);
    values[i] = static_cast<To>(+value);  // converts small integers to int first
  }
}

template <class To>
bool NpyArray::convert_whole(std::vector<To>& values) const {
  if (header_.type == "i4")
    convert<std::int32_t>(values);
  else if (header_.type == "i8")
    convert<std::int64_t>(values);
  else if (header_.type == "u4")
    convert<std::uint32_t>(values);
  else if (header_.type == "u8")
    convert<std::uint64_t>(values);
  else if (header_.type == "i2")
    convert<std::int16_t>(values);
  else if (header_.type == "u2")
    convert<std::uint16_t>(values);
  else if (header_.type == "i1")
    convert<std::int8_t>(values);
  else if (header_.type == "u1" || header_.type == "b1")
    convert<std::uint8_t>(values);
  else
    return false;
  return true;
}

bool NpyArray::whole_numbers(std::vector<std::uint64_t>& values) const {
  return convert_whole(values);
}

bool NpyArray::numbers(std::vector<float>& values) const {
  if (header_.type == "f4")
    convert<float>(values);
  else if (header_.type == "f8")
    convert<double>(values);
  else
    return convert_whole(values);
  return true;
}

bool is_npy(std::string_view bytes) {
  return bytes.starts_with(kNpyMagic);
}

std::string npy_bytes(std::string_view type, std::string_view shape, std::string_view items) {
  // Blanks and a line end fill the header, so that the items begin at a multiple of kAlignedTo.
  constexpr std::size_t kAlignedTo = 64, kBeforeHeader = 10;  // magic, version, and length of the header
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
  header.append(kAlignedTo - 1 - (kBeforeHeader + header.size()) % kAlignedTo, ' ').push_back('\n');
  ByteString out;
  out.write(kNpyMagic);
  out.put<std::uint8_t>(1);  // version 1.0
  out.put<std::uint8_t>(0);
  out.put(static_cast<std::uint16_t>(header.size()));
  out.write(header);
  out.write(items);
  return std::move(out).bytes();
}

}  // namespace slide
