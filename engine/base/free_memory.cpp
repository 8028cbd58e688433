#include "engine/base/free_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "engine/base/error.h"
#include "engine/base/memory_group.h"

namespace slide {

namespace {

std::optional<double> machine_free() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (double kilobytes = 0.0; file >> name >> kilobytes; std::getline(file, unit)) {
    if (name == "MemAvailable:") return kilobytes * 1024.0;
  }
  return std::nullopt;
}

std::optional<double> address_space_free() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  std::ifstream file("/proc/self/statm");
  double pages = 0.0;
  if (!(file >> pages)) return std::nullopt;
  return std::max(0.0, double(limit.rlim_cur) - pages * double(sysconf(_SC_PAGESIZE)));
}

}  // namespace

std::optional<double> free_memory() {
  std::optional<double> smallest;
  for (const std::optional<double>& bytes : {machine_free(), group_free(), address_space_free()}) {
    if (bytes) smallest = std::min(smallest.value_or(*bytes), *bytes);
  }
  return smallest;
}

void require_room(double bytes, const std::string& path) {
  if (bytes <= kLittleMemory) return;
  const std::optional<double> free = free_memory();
  if (!free || bytes <= *free) return;
  fail_input("{}: unpacked it takes {:.0f} MB of memory or more, and {:.0f} MB are free; take a part of it",
             path, bytes / 1e6, *free / 1e6);
}

}  // namespace slide
