#include "datasets/npy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/byte_io.h"
#include "engine/base/error.h"
#include "engine/base/free_memory.h"

namespace slide {

namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr const char* kAdvice = "save a CSR matrix with scipy.sparse.save_npz";

// The text behind 'key': in a header, which is a Python dict.
std::string_view value_of(std::string_view header, std::string_view key, const std::string& name,
                          const std::string& path) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) fail_npz(path, fmt::format("{} has no {}", name, key));
  std::string_view value = header.substr(at + key.size() + 3);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value;
}

}  // namespace

void fail_npz(const std::string& path, const std::string& what) {
  fail_input("{}: {}; {}", path, what, kAdvice);
}

NpyArray::NpyArray(std::string bytes, const std::string& name, const std::string& path)
    : path_(path), bytes_(std::move(bytes)) {
  ByteReader in(bytes_, fmt::format("{}: {} is no NumPy array", path, name), kAdvice);
  if (!bytes_.starts_with(kNpyMagic)) in.refuse("it does not begin like one");
  in.take(kNpyMagic.size());
  const bool is_old = in.get<std::uint8_t>() == 1;  // version; a length of two bytes, later four
  in.get<std::uint8_t>();
  const std::size_t length = is_old ? in.get<std::uint16_t>() : in.get<std::uint32_t>();
  const std::string_view header = in.take(length);
  begin_ = bytes_.size() - in.left();
  read_header(header, name, path);
}

void NpyArray::read_header(std::string_view header, const std::string& name, const std::string& path) {
  read_type(header, name, path);
  read_shape(header, name, path);
  const std::size_t bytes = width(name, path);
  if (items().size() / bytes != count_ || items().size() % bytes != 0) {
    fail_npz(path, name + " has another size than its header says");
  }
}

void NpyArray::read_type(std::string_view header, const std::string& name, const std::string& path) {
  std::string_view type = value_of(header, "descr", name, path);
  if (!type.starts_with('\'')) fail_npz(path, name + " has no plain type");
  type = type.substr(1, type.find('\'', 1) - 1);
  if (type.size() < 3 || type[0] == '>') {
    fail_npz(path, fmt::format("{} has the type '{}', which is not read", name, type));
  }
  type_ = type.substr(1);
}

void NpyArray::read_shape(std::string_view header, const std::string& name, const std::string& path) {
  std::string_view shape = value_of(header, "shape", name, path);
  shape = shape.substr(0, shape.find(')'));
  count_ = 1;
  for (std::size_t at = 0; (at = shape.find_first_of("0123456789", at)) != std::string_view::npos;) {
    std::uint64_t size = 0;
    for (; at < shape.size() && shape[at] >= '0' && shape[at] <= '9'; ++at) {
      size = size * 10 + static_cast<std::uint64_t>(shape[at] - '0');
      if (size > items().size()) fail_npz(path, name + " is cut off");
    }
    if (size != 0 && count_ > items().size() / size) fail_npz(path, name + " is cut off");
    count_ *= size;
  }
}

// Bytes of an item.
std::size_t NpyArray::width(const std::string& name, const std::string& path) const {
  std::size_t width = 0;
  for (const char c : std::string_view(type_).substr(1)) {
    if (c < '0' || c > '9' || width > 1000)
      fail_npz(path, fmt::format("{} has the type '{}', which is not read", name, type_));
    width = width * 10 + static_cast<std::size_t>(c - '0');
  }
  return std::max<std::size_t>(type_[0] == 'U' ? 4 * width : width, 1);
}

template <class T, class To>
void NpyArray::convert(std::vector<To>& values) const {
  require_room(double(count_) * sizeof(To), path_);
  values.resize(count_);
  const char* from = items().data();
  for (std::size_t i = 0; i < count_; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof value);
    values[i] = static_cast<To>(+value);  // small integers as int first
  }
}

template <class To>
bool NpyArray::convert_whole(std::vector<To>& values) const {
  if (type_ == "i4")
    convert<std::int32_t>(values);
  else if (type_ == "i8")
    convert<std::int64_t>(values);
  else if (type_ == "u4")
    convert<std::uint32_t>(values);
  else if (type_ == "u8")
    convert<std::uint64_t>(values);
  else if (type_ == "i2")
    convert<std::int16_t>(values);
  else if (type_ == "u2")
    convert<std::uint16_t>(values);
  else if (type_ == "i1")
    convert<std::int8_t>(values);
  else if (type_ == "u1" || type_ == "b1")
    convert<std::uint8_t>(values);
  else
    return false;
  return true;
}

bool NpyArray::whole_numbers(std::vector<std::uint64_t>& values) const {
  return convert_whole(values);
}

bool NpyArray::numbers(std::vector<float>& values) const {
  if (type_ == "f4")
    convert<float>(values);
  else if (type_ == "f8")
    convert<double>(values);
  else
    return convert_whole(values);
  return true;
}

std::string npy_bytes(std::string_view type, std::string_view shape, std::string_view items) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
  header.append(63 - (10 + header.size()) % 64, ' ').push_back('\n');
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
