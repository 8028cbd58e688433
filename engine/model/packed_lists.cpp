#include "engine/model/packed_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>

namespace slide {

namespace {

constexpr unsigned kParameterBits = 5;

// Writes bits to bytes, least significant bit first.
class BitWriter {
 public:
  void put(std::uint64_t value, unsigned count) {  // count <= 33
    word_ |= value << used_;
    for (used_ += count; used_ >= 8; used_ -= 8, word_ >>= 8) bytes_.push_back(static_cast<char>(word_));
  }
  // Writes `value` ones and a zero.
  void put_unary(std::uint64_t value) {
    for (; value >= 32; value -= 32) put(0xffffffffu, 32);
    put((std::uint64_t{1} << value) - 1, static_cast<unsigned>(value) + 1);
  }
  // Writes a number >= 0 as Elias gamma code of value + 1: bit length in unary, then the lower bits.
  void put_count(std::uint64_t value) {
    const auto behind = static_cast<unsigned>(std::bit_width(value + 1)) - 1;
    put_unary(behind);
    put(value + 1 - (std::uint64_t{1} << behind), behind);
  }
  std::string bytes() && {
    if (used_ > 0) bytes_.push_back(static_cast<char>(word_));
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
  std::uint64_t word_ = 0;
  unsigned used_ = 0;  // number of bits in word_
};

// Inverse of BitWriter. After the end it reads zeros and is_over() is true.
class BitReader {
 public:
  explicit BitReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t take(unsigned count) {  // count <= 32
    fill();
    if (used_ < count) {
      over_ = true;
      return 0;
    }
    const std::uint64_t value = word_ & ((std::uint64_t{1} << count) - 1);
    drop(count);
    return value;
  }
  // Reads a unary code: ones up to the first zero. At the end of the bytes sets over_.
  std::uint64_t take_unary() {
    std::uint64_t value = 0;
    for (;;) {
      fill();
      const auto ones = static_cast<unsigned>(std::countr_one(word_));
      value += ones;
      if (ones < used_) {
        drop(ones + 1);
        return value;
      }
      if (at_ == bytes_.size()) {
        over_ = true;
        return 0;
      }
      drop(ones);
    }
  }
  std::uint64_t take_count() {
    const std::uint64_t behind = take_unary();
    if (behind > 32) over_ = true;
    return over_ ? 0 : (std::uint64_t{1} << behind) + take(static_cast<unsigned>(behind)) - 1;
  }
  bool is_over() const { return over_; }
  // Whether only the zero padding of the last byte is left.
  bool at_end() const { return !over_ && at_ == bytes_.size() && used_ < 8 && word_ == 0; }

 private:
  void fill() {
    for (; used_ <= 56 && at_ < bytes_.size(); used_ += 8)
      word_ |= std::uint64_t{static_cast<unsigned char>(bytes_[at_++])} << used_;
  }
  void drop(unsigned count) {
    word_ = count < 64 ? word_ >> count : 0;
    used_ -= count;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint64_t word_ = 0;  // next bits, zero-extended
  unsigned used_ = 0;       // number of valid bits
  bool over_ = false;
};

// Calls use(gap) for each id of a list: the number of ids between it and its predecessor.
template <class Use>
void for_each_gap(std::span<const std::uint32_t> ids, const Use& use) {
  std::uint32_t next = 0;
  for (const std::uint32_t id : ids) {
    use(id - next);
    next = id + 1;
  }
}

// The Rice parameter (number of literal low bits) of the shortest code, ties to the smaller one.
unsigned best_parameter(std::span<const std::uint32_t> ids) {
  unsigned best = 0;
  std::uint64_t smallest = ~std::uint64_t{0};
  const auto widest = static_cast<unsigned>(std::bit_width(ids.back()));
  for (unsigned parameter = 0; parameter < std::max(1u, widest); ++parameter) {
    std::uint64_t bits = ids.size() * std::uint64_t{parameter};
    for_each_gap(ids, [&](std::uint32_t gap) { bits += gap >> parameter; });
    if (bits < smallest) smallest = bits, best = parameter;
  }
  return best;
}

// Rice code of each gap: gap >> parameter in unary, then its `parameter` low bits.
void put_list(BitWriter& bits, std::span<const std::uint32_t> ids) {
  bits.put_count(ids.size());
  if (ids.empty()) return;
  const unsigned parameter = best_parameter(ids);
  bits.put(parameter, kParameterBits);
  for_each_gap(ids, [&](std::uint32_t gap) {
    bits.put_unary(gap >> parameter);
    bits.put(gap & ((std::uint32_t{1} << parameter) - 1), parameter);
  });
}

// Appends one list to `lists`, of `entries` ids in total; returns false for invalid data.
bool take_list(BitReader& bits, std::uint64_t entries, std::size_t bound, IdLists& lists) {
  const std::uint64_t count = bits.take_count();
  if (bits.is_over() || count > entries - lists.ids.size()) return false;
  const auto parameter = count > 0 ? static_cast<unsigned>(bits.take(kParameterBits)) : 0;
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t upper = bits.take_unary();
    if (bits.is_over() || upper > bound) return false;
    const std::uint64_t id = next + (upper << parameter) + bits.take(parameter);
    if (bits.is_over() || id >= bound) return false;
    lists.ids.push_back(static_cast<std::uint32_t>(id));
    next = id + 1;
  }
  lists.offsets.push_back(lists.ids.size());
  return true;
}

}  // namespace

void put_lists(ByteWriter& out, std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> ids) {
  BitWriter bits;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
    put_list(bits, ids.subspan(offsets[i], offsets[i + 1] - offsets[i]));
  const std::string bytes = std::move(bits).bytes();
  out.put<std::uint64_t>(ids.size());
  out.put_array(bytes.data(), bytes.size());
}

IdLists get_lists(ByteReader& in, std::size_t lists, std::size_t bound, const char* what) {
  const auto refuse = [&] { in.refuse(fmt::format("{} that cannot be", what)); };
  const auto entries = in.get<std::uint64_t>();
  const std::uint64_t bytes = in.get_count(1, fmt::format("{} beyond its length", what));
  const std::uint64_t bits_stored = 8 * bytes;
  if (entries > bits_stored || lists > bits_stored) refuse();  // each takes at least a bit
  BitReader bits(in.take(bytes));
  IdLists found;
  found.ids.reserve(entries);
  found.offsets.reserve(lists + 1);
  for (std::size_t i = 0; i < lists; ++i) {
    if (!take_list(bits, entries, bound, found)) refuse();
  }
  if (found.ids.size() != entries || !bits.at_end()) refuse();
  return found;
}

}  // namespace slide
