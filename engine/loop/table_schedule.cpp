#include "engine/loop/table_schedule.h"

namespace slide {

TableSchedule::TableSchedule(const Network& network, bool from_nothing) : generation_(network.generation()) {
  for (const Layer& layer : network.layers()) {
    const HashConfig& hash = layer.config().hash;
    const bool has_tables = layer.index() != nullptr;
    rehash_.emplace_back(has_tables ? hash.rehash_steps : 0, hash.interval_growth,
                         from_nothing && layer.config().init_scale == 0);
    rebuild_.emplace_back(has_tables ? hash.rebuild_steps : 0, hash.interval_growth);
  }
}

// A rebuild takes the place of a rehash that is due at the same time.
bool TableSchedule::follow(std::uint64_t done, NetworkTraining& training, Network& network, int threads) {
  bool moved = false;
  for (std::size_t l = 0; l < rehash_.size(); ++l) {
    const bool rehash = rehash_[l].due(done);
    if (rebuild_[l].due(done)) {
      training.rebuild_index(network, l, ++generation_, threads);
      moved = true;
    } else if (rehash) {
      training.rehash(network, l, threads);
      moved = true;
    }
  }
  return moved;
}

void TableSchedule::save(ByteWriter& out) const {
  out.put_array(rehash_.data(), rehash_.size());
  out.put_array(rebuild_.data(), rebuild_.size());
}

void TableSchedule::load(ByteReader& in, std::uint64_t generation, std::uint64_t done) {
  generation_ = generation;
  load_schedules(in, done, rehash_);
  load_schedules(in, done, rebuild_);
}

void TableSchedule::load_schedules(ByteReader& in, std::uint64_t done,
                                   std::vector<IntervalSchedule>& schedules) {
  std::vector<IntervalSchedule> stored = schedules;
  in.get_array(stored.data(), stored.size(), "another number of layers");
  for (IntervalSchedule& schedule : schedules) schedule.due(done);
  if (stored != schedules) in.refuse("impossible times of the hash tables");
}

}  // namespace slide
