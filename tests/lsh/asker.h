// Asks an index, for its tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lsh/neuron_index.h"
#include "lsh_test_util.h"

namespace slide::lsh::test {

// One query with everything it needs; the answers of a query are ids.
struct Asker {
  Asker(const NeuronIndex& of, std::size_t neurons)
      : index(of), scratch(of.make_scratch(32, neurons)), seen(neurons) {
    out.reserve(neurons);
    known.reserve(neurons);
  }
  const std::vector<std::uint32_t>& ask(const Block& block, std::size_t wanted, std::uint64_t item = 0) {
    Rng rng(9, Purpose::kTest, 0, item);
    out = known;
    index.query(block.query(), wanted, rng, scratch, seen, out);
    return keep_new();
  }
  const std::vector<std::uint32_t>& ask(const Sparse& x, std::size_t wanted, std::uint64_t item = 0) {
    Rng rng(9, Purpose::kTest, 0, item);
    out = known;
    index.query_sparse(x.ids, x.values, wanted, rng, scratch, seen, out);
    return keep_new();
  }

  void know(std::uint32_t id) {
    if (seen.insert(id)) known.push_back(id);
  }
  void forget() {
    seen.clear();
    known.clear();
  }

  const NeuronIndex& index;
  QueryScratch scratch;
  IdSet seen;
  std::vector<std::uint32_t> known;  // the ids in `seen`
  std::vector<std::uint32_t> out;

 private:
  const std::vector<std::uint32_t>& keep_new() {
    out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(known.size()));
    known.insert(known.end(), out.begin(), out.end());
    return out;
  }
};

inline double count(const std::vector<std::uint32_t>& out, std::size_t id) {
  return static_cast<double>(std::count(out.begin(), out.end(), id));
}

}  // namespace slide::lsh::test
