// Cache-line aligned, zero-initialised arrays for weights, tables and workspaces. Movable, not copyable; not
// thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace slide {

inline constexpr std::size_t kAlignment = 64;  // bytes: one cache line, one AVX-512 register

inline constexpr std::size_t kLargePage = std::size_t{2} << 20;  // bytes

// Rounds `count` up to a multiple of `multiple`.
constexpr std::size_t round_up(std::size_t count, std::size_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

// Allocates `bytes` zeroed bytes aligned to kAlignment; requests huge pages for large areas (the kernel may
// refuse). Throws Error when memory runs out.
void* allocate_zeroed(std::size_t bytes);
void release(void* memory, std::size_t bytes) noexcept;
// Returns whole pages after the first `kept` bytes to the system where possible; returns the number of bytes
// that release() must release later.
std::size_t release_behind(void* memory, std::size_t bytes, std::size_t kept) noexcept;
// Requests huge pages for the whole ones of an area that was not touched yet, as a std::vector's after
// reserve(); none for small areas. The kernel may refuse.
void request_large_pages(void* memory, std::size_t bytes) noexcept;
// Total bytes of all live areas that were mapped outside the heap.
std::size_t mapped_bytes() noexcept;

// values.resize(size) for long arrays, in huge pages where the memory is fresh.
template <class T>
void resize_large(std::vector<T>& values, std::size_t size) {
  values.reserve(size);
  if (values.empty()) request_large_pages(values.data(), size * sizeof(T));
  values.resize(size);
}

// A fixed-size zero-initialised array of trivial elements.
template <class T>
class AlignedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AlignedArray() = default;
  explicit AlignedArray(std::size_t size)
      : data_(size == 0 ? nullptr : static_cast<T*>(allocate_zeroed(size * sizeof(T)))),
        size_(size),
        allocated_(size * sizeof(T)) {}
  AlignedArray(AlignedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        allocated_(std::exchange(other.allocated_, 0)) {}
  AlignedArray& operator=(AlignedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(allocated_, other.allocated_);
    return *this;
  }
  ~AlignedArray() {
    if (data_ != nullptr) release(data_, allocated_);
  }

  // Keeps the first `size` elements in place; `size` is at most size().
  void shrink(std::size_t size) {
    size_ = size;
    if (data_ != nullptr) allocated_ = release_behind(data_, allocated_, size * sizeof(T));
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t allocated_ = 0;  // bytes
};

}  // namespace slide
