// Benchmark of cluster latency: an exchange in which each rank sends BYTES to each, a gathering of a few
// bytes of each, and a barrier: median, 99th percentile and mean of ROUNDS, measured on rank 0.
// usage: SLIDE_MPI_PLUGIN=build/release/slide_mpi.so mpirun -n RANKS cluster_latency [BYTES] [ROUNDS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "engine/base/error.h"
#include "engine/cluster/cluster.h"

namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<std::byte>;

// Microseconds of each of `rounds` calls.
template <class F>
void measure(slide::Cluster& cluster, const char* what, std::size_t rounds, F&& call) {
  std::vector<double> times;
  for (std::size_t i = 0; i < rounds / 10 + 1; ++i) call();
  cluster.barrier();
  for (std::size_t i = 0; i < rounds; ++i) {
    const auto begin = Clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  cluster.barrier();
  if (cluster.rank() != 0) return;
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(rounds);
  std::sort(times.begin(), times.end());
  std::printf("%-9s median %8.1f us   99 %% %9.1f us   mean %8.1f us\n", what, times[rounds / 2],
              times[rounds * 99 / 100], mean);
}

void run(std::size_t bytes, std::size_t rounds) {
  const auto cluster = slide::open_cluster();
  const auto ranks = static_cast<std::size_t>(cluster->size());
  const std::vector<Bytes> sent(ranks, Bytes(bytes));
  std::vector<Bytes> got = sent;
  const std::vector<std::span<const std::byte>> out(sent.begin(), sent.end());
  const std::vector<std::span<std::byte>> in(got.begin(), got.end());
  measure(*cluster, "exchange", rounds, [&] {
    cluster->start(0, out, in);
    cluster->wait(0);
  });
  const Bytes mine(8);
  Bytes all(8 * ranks);
  measure(*cluster, "gather", rounds, [&] { cluster->all_gather(mine, all); });
  measure(*cluster, "barrier", rounds, [&] { cluster->barrier(); });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 16384,
        argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 2000);
  } catch (const slide::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
