// When the hash tables of each layer follow its weights (phase C), and which hash functions were drawn last.
// One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/byte_io.h"
#include "engine/loop/schedule.h"
#include "engine/network/network_training.h"

namespace slide {

class TableSchedule {
 public:
  // `from_nothing`: weights of 0 at the start, so that the first rehashes come sooner.
  TableSchedule(const Network& network, bool from_nothing);

  // Rehashes or rebuilds the tables that are due after `done` steps; returns whether any were.
  bool follow(std::uint64_t done, NetworkTraining& training, Network& network, int threads);

  std::uint64_t generation() const { return generation_; }
  void save(ByteWriter& out) const;
  // Refuses schedules other than those that follow from the configuration and `done` steps: with damaged
  // times a table would be due in every step.
  void load(ByteReader& in, std::uint64_t generation, std::uint64_t done);

 private:
  static void load_schedules(ByteReader& in, std::uint64_t done, std::vector<IntervalSchedule>& schedules);

  std::vector<IntervalSchedule> rehash_, rebuild_;  // by layer
  std::uint64_t generation_ = 1;                    // of the hash functions drawn last
};

}  // namespace slide
