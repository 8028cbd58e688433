// Mutates a zip archive, and corrects the checksums of stored members.
#include <cstring>

#include "engine/base/summed_file.h"
#include "tests/fuzz/mutate.h"

namespace slide::fuzz {
namespace {

template <class T>
T value_at(const std::string& bytes, std::size_t at) {
  T value{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof value)
    std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// `entry`: position of a member's entry in the central directory.
void seal_member(std::string& bytes, std::size_t entry) {
  constexpr std::size_t kHeader = 30;  // of a member, without its name
  const std::size_t header = value_at<std::uint32_t>(bytes, entry + 42);
  const std::size_t begin = header + kHeader + value_at<std::uint16_t>(bytes, header + 26) +
                            value_at<std::uint16_t>(bytes, header + 28);
  const std::size_t size = value_at<std::uint32_t>(bytes, entry + 24);
  const bool is_stored = value_at<std::uint16_t>(bytes, entry + 10) == 0;
  if (!is_stored || begin > bytes.size() || size > bytes.size() - begin || entry + 46 > bytes.size()) return;
  const std::uint32_t sum = crc_32(0, std::string_view(bytes).substr(begin, size));
  std::memcpy(bytes.data() + entry + 16, &sum, sizeof sum);
  std::memcpy(bytes.data() + header + 14, &sum, sizeof sum);
}

void seal_archive(std::string& bytes) {
  constexpr std::string_view kEntry = "PK\x01\x02";
  for (std::size_t at = 0; (at = bytes.find(kEntry, at)) != std::string::npos; at += kEntry.size())
    seal_member(bytes, at);
}

}  // namespace
}  // namespace slide::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return slide::fuzz::mutate_and_seal(data, size, max_size, seed, slide::fuzz::seal_archive);
}
