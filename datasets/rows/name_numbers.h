// String interning: assigns ids 0, 1, ... to distinct strings in order of first occurrence. A hash table with
// linear probing. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace slide {

class NameNumbers {
 public:
  // Returns the id of `name`; assigns the next one to a new name, whose bytes must outlive this object.
  std::uint32_t operator()(std::string_view name) {
    if (2 * (names_.size() + 1) > slots_.size()) grow();
    const std::uint64_t key = key_of(name);
    std::size_t at = home(key);
    while (slots_[at].number != kFree) {
      if (slots_[at].key == key && (name.size() <= kShort || names_[slots_[at].number] == name))
        return slots_[at].number;
      at = (at + 1) & (slots_.size() - 1);
    }
    const auto number = static_cast<std::uint32_t>(names_.size());
    slots_[at] = {key, number};
    names_.push_back(name);
    return number;
  }

  std::span<const std::string_view> names() const { return names_; }
  // Removes all names and keeps the memory of the table.
  void clear() {
    slots_.assign(slots_.size(), {});
    names_.clear();
  }
  std::vector<std::string_view> take_names() && { return std::move(names_); }

 private:
  static constexpr std::uint32_t kFree = 0xffffffff;
  static constexpr std::size_t kShort = 7;  // max bytes of a name whose key determines it
  static constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15ULL;  // 2^64 / golden ratio (Fibonacci hashing)
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = kFree;
  };

  // Short names: bytes and length, without collisions, highest bit 0. Longer names: a hash, highest bit 1.
  static std::uint64_t key_of(std::string_view name) {
    std::uint64_t key = 0;
    if (name.size() <= kShort) {
      std::memcpy(&key, name.data(), name.size());
      return key ^ (std::uint64_t{name.size()} << 56);
    }
    std::uint64_t hash = name.size();
    const char* at = name.data();
    std::size_t left = name.size();
    for (; left > 8; left -= 8, at += 8) hash = mixed(hash, at);
    return mixed(hash, name.data() + name.size() - 8) | (std::uint64_t{1} << 63);
  }
  static std::uint64_t mixed(std::uint64_t hash, const char* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    hash = (hash ^ word) * kFactor;
    return hash ^ (hash >> 32);
  }
  // The first slot to look at for a key.
  std::size_t home(std::uint64_t key) const {
    return ((key ^ (key >> 29)) * kFactor >> 20) & (slots_.size() - 1);
  }
  // Doubles the number of slots, a power of two, and inserts all names again.
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number == kFree) continue;
      std::size_t at = home(slot.key);
      while (slots_[at].number != kFree) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<std::string_view> names_;
};

}  // namespace slide
