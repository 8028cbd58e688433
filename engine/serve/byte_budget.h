// Bound on the bytes of requests and answers that the server holds for its clients, all together.
// Thread-safe, but for a single HeldBytes. Internal to the server.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

namespace slide::serve {

class ByteBudget {
 public:
  explicit ByteBudget(std::size_t limit) : limit_(limit) {}

  std::size_t limit() const { return limit_; }
  std::size_t held() const { return held_.load(std::memory_order_relaxed); }
  // Takes bytes; returns false, and takes none, beyond the limit.
  bool try_take(std::size_t bytes) {
    std::size_t held = held_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ || held > limit_ - bytes) return false;
    } while (!held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
    return true;
  }
  // The same without a limit.
  void take(std::size_t bytes) { held_.fetch_add(bytes, std::memory_order_relaxed); }
  void give_back(std::size_t bytes) { held_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> held_ = 0;
};

// The budget has no room; the client may come again.
class NoRoom : public std::exception {
 public:
  const char* what() const noexcept override { return "too many bytes wait to be read or sent"; }
};

// Bytes of one request or answer, given back when it ends. The first `own` of them are no part of the budget:
// small requests are answered however many bytes others hold.
class HeldBytes {
 public:
  HeldBytes() = default;  // counts nothing
  HeldBytes(ByteBudget& budget, std::size_t own) : budget_(&budget), own_(own) {}
  ~HeldBytes() { set(0); }
  HeldBytes(HeldBytes&& other) noexcept
      : budget_(other.budget_), own_(other.own_), counted_(std::exchange(other.counted_, 0)) {}
  HeldBytes& operator=(HeldBytes&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(own_, other.own_);
    std::swap(counted_, other.counted_);
    return *this;
  }

  // Holds `bytes` from now on. try_set() returns false, and changes nothing, where the budget has no room.
  bool try_set(std::size_t bytes) {
    const std::size_t wanted = counted_of(bytes);
    if (budget_ != nullptr && wanted > counted_ && !budget_->try_take(wanted - counted_)) return false;
    if (budget_ != nullptr && wanted < counted_) budget_->give_back(counted_ - wanted);
    counted_ = wanted;
    return true;
  }
  void set(std::size_t bytes) {
    const std::size_t wanted = counted_of(bytes);
    if (budget_ != nullptr) budget_->take(wanted), budget_->give_back(counted_);
    counted_ = wanted;
  }
  // Counted bytes of all others.
  std::size_t others() const { return budget_ == nullptr ? 0 : budget_->held() - counted_; }
  std::size_t limit() const { return budget_ == nullptr ? SIZE_MAX : budget_->limit(); }

 private:
  std::size_t counted_of(std::size_t bytes) const { return bytes > own_ ? bytes - own_ : 0; }

  ByteBudget* budget_ = nullptr;
  std::size_t own_ = 0;
  std::size_t counted_ = 0;
};

}  // namespace slide::serve
