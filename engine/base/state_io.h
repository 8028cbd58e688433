// The state of a run as bytes: what its parts write into and read from without knowing about files. Values
// are stored as they lie in memory. An object serves one thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

namespace slide {

class StateWriter {
 public:
  virtual ~StateWriter() = default;
  virtual void write(std::string_view bytes) = 0;

  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    write({reinterpret_cast<const char*>(&value), sizeof(T)});
  }
  // Count, then values.
  template <class T>
  void put_array(const T* values, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    put<std::uint64_t>(count);
    write({reinterpret_cast<const char*>(values), count * sizeof(T)});
  }
};

class StateReader {
 public:
  virtual ~StateReader() = default;
  // The next bytes; throws InputError when there are less.
  virtual std::string_view take(std::uint64_t bytes) = 0;
  // Throws InputError that says what does not fit.
  [[noreturn]] virtual void refuse(const char* what) const = 0;

  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  // Values that put_array() wrote: exactly `count`, which is refused as `what` otherwise.
  template <class T>
  void get_array(T* values, std::size_t count, const char* what) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (get<std::uint64_t>() != count) refuse(what);
    const std::string_view bytes = take(std::uint64_t{count} * sizeof(T));
    if (!bytes.empty()) std::memcpy(values, bytes.data(), bytes.size());
  }
  // The same with as many as there are.
  template <class T>
  void get_vector(std::vector<T>& values) {
    const auto count = get<std::uint64_t>();
    if (count > UINT64_MAX / sizeof(T)) refuse("an impossible size");
    const std::string_view bytes = take(count * sizeof(T));
    values.resize(count);
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  }
};

}  // namespace slide
