// Values as bytes and bytes as values, what every binary file of the project is made of: one value behind the
// other as it lies in memory, little-endian. Whoever writes or reads need not know whether the bytes are
// those of a file. An object serves one thread.
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

namespace slide {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

// The bytes of the values of an array, a vector, a span and the like.
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

  // Where processes write together, each has a share of some things, which lie in the order of the processes,
  // and the same of all else. What this process has `own` of: how many of those are before its own, and in
  // all; and that the next `bytes` to be written are its share, to be said by all, if only of 0.
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
  // Values alone.
  template <class Values>
  void put_values(const Values& values) {
    write(bytes_of(values));
  }
  // Their count, a u64, then the values.
  template <class T>
  void put_array(const T* values, std::size_t count) {
    put<std::uint64_t>(count);
    put_values(std::span(values, count));
  }
};

// Collects what is written.
class ByteString final : public ByteWriter {
 public:
  void write(std::string_view bytes) override { bytes_.append(bytes); }
  const std::string& bytes() const& { return bytes_; }
  std::string bytes() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Only counts what is written.
class ByteCounter final : public ByteWriter {
 public:
  void write(std::string_view bytes) override { count_ += bytes.size(); }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

// Takes values off the front of bytes that outlive it, or of those that a derived class brings.
class ByteReader {
 public:
  // `subject` and `advice`: what is said of bytes that do not fit, "SUBJECT (what does not); ADVICE".
  ByteReader(std::string_view bytes, std::string subject, std::string advice)
      : rest_(bytes), subject_(std::move(subject)), advice_(std::move(advice)) {}
  virtual ~ByteReader() = default;
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  // Throws InputError that says what does not fit.
  [[noreturn]] void refuse(std::string_view what) const;
  std::uint64_t left() const { return rest_.size() + behind_; }

  // The next bytes, good until the next call; throws InputError, here and below, when there are less.
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
  template <class Values>  // as many as there is room for
  void get_values(Values& values) {
    get_values(std::data(values), std::size(values));
  }
  // `count` values; their memory is asked for when it is clear that there are so many.
  template <class T>
  void get_vector(std::vector<T>& values, std::uint64_t count) {
    require(count, sizeof(T));
    values.resize(count);
    get_values(values);
  }
  // What put_array() wrote: exactly `count` values, refused as `what` otherwise.
  template <class T>
  void get_array(T* values, std::size_t count, std::string_view what) {
    expect(count, what);
    get_values(values, count);
  }
  // The same with as many as there are.
  template <class T>
  void get_vector(std::vector<T>& values) {
    get_vector(values, get<std::uint64_t>());
  }
  // `own` of `all` values that lie one behind the other, from number `first` on.
  template <class T>
  void get_share(std::span<T> own, std::uint64_t first, std::uint64_t all) {
    skip(first * sizeof(T));
    get_values(own.data(), own.size());
    skip((all - first - own.size()) * sizeof(T));
  }
  // A u64 that must be `expected`, refused as `what` otherwise.
  void expect(std::uint64_t expected, std::string_view what) {
    if (get<std::uint64_t>() != expected) refuse(what);
  }
  // A u64: a number of things of which each takes at least `bytes` in what is left, refused as `what`
  // otherwise.
  std::uint64_t get_count(std::size_t bytes, std::string_view what);

 protected:
  // The next `bytes` of those not at hand, at most as many as there are: brings some to `to` and returns how
  // many, or puts some into rest_ and returns 0; takes them off behind_.
  virtual std::size_t bring(char* to, std::size_t bytes);

  std::string_view rest_;     // at hand
  std::uint64_t behind_ = 0;  // bytes that follow these

 private:
  void require(std::uint64_t count, std::size_t size) const;
  void copy(char* to, std::size_t bytes);

  std::string subject_, advice_;
  std::string taken_;  // what take() has put together
};

}  // namespace slide
