#include "engine/network/delta_places.h"

#include <gtest/gtest.h>

namespace slide {
namespace {

void expect_round_trip(std::size_t blocks, std::size_t active) {
  const DeltaPlaces places(blocks, active);
  for (const std::size_t block : {std::size_t{0}, blocks / 2, blocks - 1}) {
    for (const std::size_t a : {std::size_t{0}, active / 2, active - 1}) {
      const DeltaPlace at = places.of(places.source(block, a));
      EXPECT_EQ(at.block, block) << blocks << " x " << active;
      EXPECT_EQ(at.active, a) << blocks << " x " << active;
    }
  }
}

TEST(DeltaPlaces, ComeBackAsTheyWere) {
  for (const std::size_t active : {1u, 2u, 3u, 507u, 512u, 513u, 1u << 20}) {
    for (const std::size_t blocks : {1u, 2u, 7u, 64u, 4096u}) expect_round_trip(blocks, active);
  }
  expect_round_trip(1, std::size_t{1} << 31);
  expect_round_trip(std::size_t{1} << 31, 2);
}

TEST(DeltaPlaces, GrowWithTheBlockFirst) {
  const DeltaPlaces places(3, 5);
  EXPECT_LT(places.source(0, 4), places.source(1, 0));
  EXPECT_LT(places.source(1, 4), places.source(2, 0));
}

TEST(DeltaPlaces, TooManyAreRefused) {
  EXPECT_NO_THROW(DeltaPlaces(std::size_t{1} << 12, std::size_t{1} << 20));
  EXPECT_THROW(DeltaPlaces((std::size_t{1} << 12) + 1, std::size_t{1} << 20), InputError);
  EXPECT_THROW(DeltaPlaces(1, (std::size_t{1} << 32) + 1), InputError);
  EXPECT_THROW(DeltaPlaces(std::size_t{1} << 12, (std::size_t{1} << 20) + 1), InputError);
}

}  // namespace
}  // namespace slide
