#include "engine/run/ranks.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/summed_file.h"
#include "engine/kernels/kernels.h"
#include "engine/run/checkpoint.h"

namespace slide {

namespace {

std::vector<std::uint64_t> of_all(Cluster& cluster, std::uint64_t value) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(cluster.size()));
  cluster.all_gather(std::as_bytes(std::span(&value, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

}  // namespace

void require_same(Cluster& cluster, std::uint64_t value, const char* what) {
  const std::vector<std::uint64_t> all = of_all(cluster, value);
  const auto other = std::ranges::find_if(all, [&](std::uint64_t one) { return one != all.front(); });
  if (other == all.end()) return;
  fail_input("rank {} of {} has another {} than rank 0; start all processes alike", other - all.begin(),
             all.size(), what);
}

int processes_here(Cluster& cluster) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::vector<std::uint64_t> all = of_all(cluster, crc_32(0, std::string_view(host.data())));
  return static_cast<int>(std::ranges::count(all, all[static_cast<std::size_t>(cluster.rank())]));
}

std::string part_among(const Cluster& cluster, Config& config) {
  if (cluster.size() == 1 || config.train.shards != 1) return {};
  config.train.shards = static_cast<std::uint32_t>(cluster.size());
  validate(config);
  return fmt::format("train.shards = {}, as there are processes", config.train.shards);
}

RunData read_together(const Config& config, int threads, bool skip_bad, Cluster* cluster) {
  const auto read = [&] { return read_run_data(config, threads, skip_bad); };
  if (cluster == nullptr || !config.data.cache) return read();
  std::optional<RunData> data;
  if (cluster->rank() == 0) data = read();
  cluster->barrier();
  return data ? std::move(*data) : read();
}

void require_same_run(Cluster& cluster, const Config& config, const RunData& data) {
  require_same(cluster, crc_32(0, SLIDE_VERSION), "version of slide");
  Config same = config;
  same.data.train = same.data.test = "";  // may lie elsewhere
  same.train.threads = 0;
  require_same(cluster, crc_32(0, to_toml(same)), "configuration");
  require_same(cluster, digest_of(data.train).checksum, "data.train");
  require_same(cluster, data.test ? digest_of(*data.test).checksum : 0, "data.test");
  require_same(cluster, crc_32(0, kernels::active().name), "instruction set (SLIDE_SIMD chooses one)");
}

int own_threads(int threads, Cluster& cluster) {
  const int resolved = resolve_threads(threads);
  if (threads != 0 || cluster.size() == 1) return resolved;
  return std::max(1, resolved / processes_here(cluster));
}

}  // namespace slide
