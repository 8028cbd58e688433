#include "engine/base/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace slide {

struct MappedFile::Area {
  const char* begin;
  std::size_t bytes;
  std::string path;
};

namespace {

// Mappings visible to mapped_path(); further ones are not.
constexpr std::size_t kKnown = 64;
std::array<std::atomic<const void*>, kKnown> known{};  // MappedFile::Area; each slot is written by one thread

// Replaces `from` in one slot by `to`; nothing if no slot has `from`.
void replace_known(const void* from, const void* to) noexcept {
  for (std::atomic<const void*>& slot : known) {
    const void* expected = from;
    if (slot.compare_exchange_strong(expected, to)) return;
  }
}

}  // namespace

MappedFile::MappedFile(int descriptor, std::size_t bytes, const std::string& path) {
  auto area = std::make_unique<Area>(Area{nullptr, bytes, path});
  void* memory = bytes > 0 ? mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  if (memory == MAP_FAILED) return;
  area->begin = static_cast<const char*>(memory);
  area_.reset(area.release());
  replace_known(nullptr, area_.get());
}

void MappedFile::Unmap::operator()(const Area* area) const noexcept {
  replace_known(area, nullptr);
  munmap(const_cast<char*>(area->begin), area->bytes);
  delete area;
}

std::string_view MappedFile::bytes() const {
  return is_open() ? std::string_view(area_->begin, area_->bytes) : std::string_view();
}

void MappedFile::advise(std::string_view part, int advice) const noexcept {
  if (!is_open() || part.empty()) return;
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data()) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(part.data()) + part.size();
  madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

const char* mapped_path(const void* address) noexcept {
  const auto* at = static_cast<const char*>(address);
  for (const std::atomic<const void*>& slot : known) {
    const auto* area = static_cast<const MappedFile::Area*>(slot.load());
    if (area != nullptr && at >= area->begin && at < area->begin + area->bytes) return area->path.c_str();
  }
  return nullptr;
}

}  // namespace slide
