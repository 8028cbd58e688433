// Tests of compressed lists: round trips, the bits of the specification, and safety for any bytes.
#include "engine/model/packed_lists.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "engine/base/error.h"

namespace slide {
namespace {

std::string packed(const IdLists& lists) {
  ByteString out;
  put_lists(out, lists.offsets, lists.ids);
  return std::move(out).bytes();
}

IdLists unpacked(const std::string& bytes, std::size_t lists, std::size_t bound) {
  ByteReader in(bytes, "lists", "none");
  IdLists found = get_lists(in, lists, bound, "ids");
  EXPECT_EQ(in.left(), 0U);
  return found;
}

// Every id below `bound` with this probability, in `lists` lists.
IdLists drawn(double chance, std::uint32_t bound, std::size_t lists) {
  std::mt19937 random(7);
  std::bernoulli_distribution has(chance);
  IdLists made;
  for (std::size_t i = 0; i < lists; ++i) {
    for (std::uint32_t id = 0; id < bound; ++id) {
      if (has(random)) made.ids.push_back(id);
    }
    made.offsets.push_back(made.ids.size());
  }
  return made;
}

TEST(PackedLists, ComeBack) {
  for (const double chance : {0.0, 0.001, 0.05, 0.5, 1.0}) {
    const IdLists made = drawn(chance, 1000, 30);
    const IdLists found = unpacked(packed(made), 30, 1000);
    EXPECT_EQ(found.offsets, made.offsets) << chance;
    EXPECT_EQ(found.ids, made.ids) << chance;
  }
  const IdLists wide = {{0, 0, 3, 4}, {0, 1u << 31, 0xfffffffe, 0xfffffffe}};
  EXPECT_EQ(unpacked(packed(wide), 3, 0xffffffff).ids, wide.ids);
}

TEST(PackedLists, AreSmall) {
  const IdLists made = drawn(0.01, 100000, 20);  // entropy: 8.08 bits per id
  EXPECT_LT(8.0 * double(packed(made).size()), 8.3 * double(made.ids.size()));
}

TEST(PackedLists, BitsAreThoseOfThePage) {
  // 2 ids: 0b11 has one bit behind its highest, "10" and then "1"; p = 1, "10000"; gaps 3 and 1, "101" and
  // "01". No ids: "0".
  const IdLists made = {{0, 2, 2}, {3, 5}};
  const std::string bits = {0b00001101, 0b00010101};
  const std::string bytes = packed(made);
  ASSERT_EQ(bytes.size(), 18U);
  EXPECT_EQ(bytes.substr(0, 16), std::string("\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16));
  EXPECT_EQ(bytes.substr(16), bits);
}

TEST(PackedLists, BytesThatCannotBeAreRefused) {
  const IdLists made = drawn(0.1, 50, 4);
  const std::string bytes = packed(made);
  for (std::size_t kept = 0; kept < bytes.size(); ++kept)
    EXPECT_THROW(unpacked(bytes.substr(0, kept), 4, 50), InputError) << kept;
  EXPECT_THROW(unpacked(bytes, 12, 50), InputError);  // a list without ids takes one bit
  EXPECT_THROW(unpacked(bytes, 3, 50), InputError);
  EXPECT_THROW(unpacked(bytes, 4, made.ids.back()), InputError);
  std::size_t read = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = bytes;
      other[at] = static_cast<char>(other[at] ^ 1 << bit);
      try {
        const IdLists found = unpacked(other, 4, 50);
        for (std::size_t i = 0; i < 4; ++i) {
          for (std::uint64_t c = found.offsets[i]; c < found.offsets[i + 1]; ++c) {
            EXPECT_LT(found.ids[c], 50U);
            if (c > found.offsets[i]) {
              EXPECT_LT(found.ids[c - 1], found.ids[c]);
            }
          }
        }
        ++read;
      } catch (const InputError&) {
      }
    }
  }
  EXPECT_GT(read, 0U);
}

}  // namespace
}  // namespace slide
