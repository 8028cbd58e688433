#include "engine/run/ranks.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "engine/base/byte_io.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/pinning.h"
#include "engine/base/summed_file.h"
#include "engine/kernels/kernels.h"
#include "engine/run/checkpoint.h"
#include "engine/run/validation_keys.h"

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
  fail_input("rank {} of {} has another {} than rank 0; start all processes with the same input",
             other - all.begin(), all.size(), what);
}

namespace {

std::uint64_t machine() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return crc_32(0, std::string_view(host.data()));
}

// Machine and processors of a process.
struct Place {
  std::uint64_t machine = 0;
  ProcessorMask processors{};

  bool same(const Place& other) const { return machine == other.machine && processors == other.processors; }
  bool meets(const Place& other) const {
    if (machine != other.machine) return false;
    for (std::size_t i = 0; i < processors.size(); ++i) {
      if ((processors[i] & other.processors[i]) != 0) return true;
    }
    return false;
  }
};

std::vector<Place> places_of(Cluster& cluster) {
  const Place own{machine(), allowed_mask()};
  std::vector<Place> all(static_cast<std::size_t>(cluster.size()));
  cluster.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

}  // namespace

int processes_here(Cluster& cluster) {
  const std::vector<std::uint64_t> all = of_all(cluster, machine());
  return static_cast<int>(std::ranges::count(all, all[static_cast<std::size_t>(cluster.rank())]));
}

RunData read_together(const Config& config, int threads, bool skip_bad, Cluster* cluster) {
  const auto read = [&] { return read_run_data(config, threads, skip_bad); };
  if (cluster == nullptr || !config.data.cache) return read();
  std::optional<RunData> data;
  if (cluster->rank() == 0) data = read();
  cluster->barrier();
  return data ? std::move(*data) : read();
}

// Replaces what may differ between machines (paths, threads), then compares checksums.
void require_same_config(Cluster& cluster, const Config& config) {
  require_same(cluster, crc_32(0, SLIDE_VERSION), "version of slide");
  Config same = config;
  same.data.train = same.data.test = "";  // paths may differ between machines
  if (!same.data.validation.file.empty()) same.data.validation.file = "elsewhere";
  if (!same.data.sample_weights.empty()) same.data.sample_weights = "elsewhere";
  if (!same.data.label_weights.file.empty()) same.data.label_weights.file = "elsewhere";
  if (!same.data.label_text.empty() && same.data.label_text != LabelTexts::kNames)
    same.data.label_text = "elsewhere";
  for (std::string* file : key_files(same.data)) *file = file->empty() ? "" : "elsewhere";
  same.train.threads = 0;
  require_same(cluster, crc_32(0, to_toml(same)), "configuration");
  require_same(cluster, crc_32(0, kernels::active().name), "instruction set (SLIDE_SIMD chooses one)");
}

void require_same_data(Cluster& cluster, const RunData& data) {
  require_same(cluster, digest_of(data.train).checksum, "data.train");
  require_same(cluster, data.test ? digest_of(*data.test).checksum : 0, "data.test");
  require_same(cluster, data.validation ? digest_of(*data.validation).checksum : 0, "data.validation");
}

void require_same_file(Cluster& cluster, const Model& model) {
  if (cluster.size() > 1) require_same(cluster, model.checksum, "model");
}

void require_same_rows(Cluster& cluster, const Dataset* rows) {
  if (cluster.size() == 1) return;
  const std::uint64_t digest = rows == nullptr ? 0 : std::uint64_t{1} << 32 | digest_of(*rows).checksum;
  require_same(cluster, digest, "set of samples");
}

void require_same_pairs(Cluster& cluster, const LabelPairs& pairs, std::size_t samples) {
  if (cluster.size() == 1) return;
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const std::array<std::uint64_t, 1> count = {pairs.of(i).size()};
    crc = crc_32(crc_32(crc, bytes_of(count)), bytes_of(pairs.of(i)));
  }
  require_same(cluster, crc, "filter");
}

int own_threads(int requested, Cluster* cluster) {
  const int threads = resolve_threads(requested);
  if (cluster == nullptr || cluster->size() == 1) return threads;
  const std::vector<Place> all = places_of(*cluster);  // collective: call it also where `requested` is set
  if (requested > 0) return threads;
  const Place& own = all[static_cast<std::size_t>(cluster->rank())];
  const auto here = std::ranges::count_if(all, [&](const Place& other) { return own.meets(other); });
  return std::max(1, threads / static_cast<int>(std::max<std::ptrdiff_t>(1, here)));
}

// Divides the cores among the processes that may run on the same ones.
std::vector<int> own_processors(Cluster* cluster) {
  std::vector<int> allowed = allowed_processors();
  if (cluster == nullptr || cluster->size() == 1) return allowed;
  const std::vector<Place> all = places_of(*cluster);
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = a + 1; b < all.size(); ++b) {
      if (!all[a].meets(all[b]) || all[a].same(all[b])) continue;
      fail_input(
          "ranks {} and {} may run on some of the same cores, but not on all; start them with the same "
          "cores, or each with its own, or leave --pin out",
          a, b);
    }
  }
  const auto rank = static_cast<std::size_t>(cluster->rank());
  const auto like_own = [&](const Place& other) { return other.same(all[rank]); };
  const auto before = std::ranges::count_if(std::span(all).first(rank), like_own);
  const auto parts = std::ranges::count_if(all, like_own);
  return share_of(allowed, static_cast<std::size_t>(before), static_cast<std::size_t>(parts));
}

}  // namespace slide
