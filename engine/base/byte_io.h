// Binary serialisation of values, shared by all binary files of the project: values in memory layout,
// little-endian, without padding. Writers and readers work on files or on memory. One thread per object.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/aligned.h"

namespace slide {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

// The bytes of the values of a contiguous container.
template <class Values>
std::string_view bytes_of(const Values& values) {
  using Value = std::remove_pointer_t<decltype(std::data(values))>;
  static_assert(std::is_trivially_copyable_v<Value>);
  return {reinterpret_cast<const char*>(std::data(values)), std::size(values) * sizeof(Value)};
}

class ByteWriter {
 public:
  virtual ~ByteWriter() = default;
  virtual void write(std::string_view bytes) = 0;

  // Collective writing: with several processes, each owns a share of some arrays, concatenated in process
  // order; all else is the same on all processes. shares_of(own): the number of elements before the own share
  // and in total. share(bytes): announces that the next `bytes` bytes are the own share; all processes call
  // it, also with 0.
  struct Shares {
    std::uint64_t before, all;
  };
  virtual Shares shares_of(std::uint64_t own) { return {0, own}; }
  virtual void share(std::uint64_t /*bytes*/) {}
  template <class Values>
  void put_share(const Values& values) {
    const std::string_view bytes = bytes_of(values);
    share(bytes.size());
    write(bytes);
  }

  template <class T>
  void put(const T& value) {
    write(bytes_of(std::span(&value, 1)));
  }
  // Writes the values without their count.
  template <class Values>
  void put_values(const Values& values) {
    write(bytes_of(values));
  }
  // Writes the count as u64, then the values.
  template <class T>
  void put_array(const T* values, std::size_t count) {
    put<std::uint64_t>(count);
    put_values(std::span(values, count));
  }
};

// Writes to a string.
class ByteString final : public ByteWriter {
 public:
  void write(std::string_view bytes) override { bytes_.append(bytes); }
  const std::string& bytes() const& { return bytes_; }
  std::string bytes() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Counts bytes without storing them.
class ByteCounter final : public ByteWriter {
 public:
  void write(std::string_view bytes) override { count_ += bytes.size(); }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

// Reads values from bytes that outlive the reader, or from a source of a derived class.
class ByteReader {
 public:
  // Errors read "SUBJECT (cause); ADVICE".
  ByteReader(std::string_view bytes, std::string subject, std::string advice)
      : rest_(bytes), subject_(std::move(subject)), advice_(std::move(advice)) {}
  virtual ~ByteReader() = default;
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  // Throws InputError with `what` as the cause.
  [[noreturn]] void refuse(std::string_view what) const;
  std::uint64_t left() const { return rest_.size() + behind_; }

  // Returns the next `bytes` bytes, valid until the next call. Throws InputError where fewer are left, as do
  // all methods below.
  std::string_view take(std::uint64_t bytes);
  void skip(std::uint64_t bytes);
  template <class T>
  T get() {
    T value;
    get_values(&value, 1);
    return value;
  }
  template <class T>
  void get_values(T* values, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    require(count, sizeof(T));
    copy(reinterpret_cast<char*>(values), count * sizeof(T));
  }
  template <class Values>  // fills the container
  void get_values(Values& values) {
    get_values(std::data(values), std::size(values));
  }
  // Reads `count` values; allocates only after checking that so many are left.
  template <class T>
  void get_vector(std::vector<T>& values, std::uint64_t count) {
    require(count, sizeof(T));
    values.clear();
    resize_large(values, count);
    get_values(values);
  }
  // Reads what put_array() wrote; throws InputError with `what` unless the count is `count`.
  template <class T>
  void get_array(T* values, std::size_t count, std::string_view what) {
    expect(count, what);
    get_values(values, count);
  }
  // Reads what put_array() wrote, any count.
  template <class T>
  void get_vector(std::vector<T>& values) {
    get_vector(values, get<std::uint64_t>());
  }
  // Reads the share [first, first + own.size()) of `all` consecutive values; skips the others.
  template <class T>
  void get_share(std::span<T> own, std::uint64_t first, std::uint64_t all) {
    skip(first * sizeof(T));
    get_values(own.data(), own.size());
    skip((all - first - own.size()) * sizeof(T));
  }
  // Reads a u64; throws InputError with `what` unless it is `expected`.
  void expect(std::uint64_t expected, std::string_view what) {
    if (get<std::uint64_t>() != expected) refuse(what);
  }
  // Reads a u64 count of items of at least `bytes` bytes each; throws InputError with `what` where so many
  // cannot be left.
  std::uint64_t get_count(std::size_t bytes, std::string_view what);

 protected:
  // Provides up to `bytes` of the bytes not yet in memory: copies some to `to` and returns their number, or
  // sets rest_ and returns 0. Reduces behind_ accordingly.
  virtual std::size_t bring(char* to, std::size_t bytes);

  std::string_view rest_;     // in memory
  std::uint64_t behind_ = 0;  // bytes that follow rest_

 private:
  void require(std::uint64_t count, std::size_t size) const;
  void copy(char* to, std::size_t bytes);

  std::string subject_, advice_;
  std::string taken_;  // memory of the last take()
};

}  // namespace slide
