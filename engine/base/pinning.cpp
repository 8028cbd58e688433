#include "engine/base/pinning.h"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>

#include "engine/base/error.h"

namespace slide {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBits = sizeof(unsigned long) * CHAR_BIT;

// Returns false where the kernel refuses.
bool get_mask(ProcessorMask& mask) {
  mask.fill(0);
  return sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask.data())) == 0;
}
bool set_mask(const ProcessorMask& mask) {
  return sched_setaffinity(0, sizeof mask, reinterpret_cast<const cpu_set_t*>(mask.data())) == 0;
}
bool set_mask(int processor) {
  const auto bit = static_cast<std::size_t>(processor);
  ProcessorMask mask{};
  mask[bit / kBits] = 1ul << bit % kBits;
  return set_mask(mask);
}

// Numbers of a list such as "0-3,8,10-11", up to its first syntax error.
std::vector<int> numbers_of(const fs::path& file) {
  std::vector<int> numbers;
  std::string text;
  std::ifstream in(file);
  while (std::getline(in, text, ',')) {
    int first = 0, last = 0;
    const char* end = text.data() + text.size();
    auto [at, error] = std::from_chars(text.data(), end, first);
    if (error != std::errc()) break;
    last = first;
    if (at != end && *at == '-') std::from_chars(at + 1, end, last);
    for (int number = first; number <= last; ++number) numbers.push_back(number);
  }
  return numbers;
}

// NUMA node by processor, as the kernel lists them.
std::map<int, int> nodes_of(const fs::path& system) {
  std::map<int, int> nodes;
  for (const int node : numbers_of(system / "node" / "online")) {
    for (const int processor : numbers_of(system / "node" / ("node" + std::to_string(node)) / "cpulist"))
      nodes[processor] = node;
  }
  return nodes;
}

// Position of a processor in the machine.
struct Place {
  int processor;
  int node;
  int core;               // first allowed processor of the core
  std::ptrdiff_t before;  // number of earlier allowed processors of the core
};

// Node and core of each processor, by the kernel's lists; only `processors` count as threads of a core.
std::vector<Place> places_of(std::span<const int> processors, const fs::path& system) {
  const std::map<int, int> nodes = nodes_of(system);
  std::vector<Place> places;
  for (const int processor : processors) {
    std::vector<int> core =
        numbers_of(system / ("cpu/cpu" + std::to_string(processor)) / "topology" / "thread_siblings_list");
    std::erase_if(core, [&](int other) { return std::ranges::find(processors, other) == processors.end(); });
    const auto before = std::ranges::count_if(core, [&](int other) { return other < processor; });
    const auto node = nodes.find(processor);
    places.push_back({processor, node == nodes.end() ? 0 : node->second,
                      before == 0 ? processor : *std::ranges::min_element(core), before});
  }
  return places;
}

std::vector<int> numbers_of(const std::vector<Place>& places) {
  std::vector<int> numbers;
  for (const Place& place : places) numbers.push_back(place.processor);
  return numbers;
}

}  // namespace

ProcessorMask allowed_mask() {
  ProcessorMask mask;
  if (!get_mask(mask)) mask.fill(0);
  return mask;
}

std::vector<int> allowed_processors() {
  const ProcessorMask mask = allowed_mask();
  std::vector<int> processors;
  for (std::size_t bit = 0; bit < mask.size() * kBits; ++bit) {
    if (mask[bit / kBits] >> bit % kBits & 1) processors.push_back(static_cast<int>(bit));
  }
  return processors;
}

std::vector<int> pin_order(std::span<const int> processors, const std::string& system) {
  std::vector<Place> places = places_of(processors, system);
  std::ranges::sort(places, {}, [](const Place& p) { return std::tuple(p.before, p.node, p.processor); });
  return numbers_of(places);
}

std::vector<int> share_of(std::span<const int> processors, std::size_t part, std::size_t parts,
                          const std::string& system) {
  std::vector<Place> places = places_of(processors, system);
  std::ranges::sort(places, {}, [](const Place& p) { return std::tuple(p.node, p.core, p.processor); });
  const auto border = [&](std::size_t p) { return static_cast<std::ptrdiff_t>(places.size() * p / parts); };
  std::vector<int> share = numbers_of({places.begin() + border(part), places.begin() + border(part + 1)});
  std::ranges::sort(share);
  return share;
}

std::atomic<const std::vector<int>*> Pinning::current_ = nullptr;

// Tries a binding first, to fail here rather than in a parallel region.
Pinning::Pinning(std::span<const int> processors, int threads) : order_(pin_order(processors)) {
  if (static_cast<std::size_t>(threads) > order_.size())
    fail_input(
        "{} threads cannot be bound to a core each: the process may use {}; give less --threads, or leave "
        "--pin out",
        threads, order_.size());
  ProcessorMask before;
  if (!get_mask(before) || !set_mask(order_.front()) || !set_mask(before))
    fail_run("threads cannot be bound to cores here ({}); leave --pin out", std::strerror(errno));
  current_ = &order_;
  if (threads == 1) alone_ = std::make_unique<PinnedThread>(0);
}

Pinning::~Pinning() {
  current_ = nullptr;
}

void PinnedThread::bind(const std::vector<int>& order, int thread) {
  if (omp_get_level() > 1 || static_cast<std::size_t>(thread) >= order.size()) return;
  bound_ = get_mask(before_) && set_mask(order[static_cast<std::size_t>(thread)]);
}

void PinnedThread::restore() {
  set_mask(before_);
}

}  // namespace slide
