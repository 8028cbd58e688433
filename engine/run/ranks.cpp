#include "engine/run/ranks.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/summed_file.h"

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

}  // namespace slide
