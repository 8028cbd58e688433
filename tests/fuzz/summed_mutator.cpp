// Mutates a model file or a checkpoint behind its checksum: the footer, and a model's length, fit again
// afterwards. One in a few mutations changes the configuration alone, and its length with it.
#include <cstring>
#include <random>

#include "engine/base/summed_file.h"
#include "engine/run/model_file.h"
#include "tests/fuzz/mutate.h"

namespace slide::fuzz {
namespace {

constexpr std::size_t kLengthAt = 8 + 4 + 4;  // of a model's length, behind magic, version and flags
constexpr std::string_view kEnd = "SLIDEEND";

bool is_model(const std::string& bytes) {
  return bytes.starts_with(kModelMagic) && bytes.size() >= kLengthAt + 8;
}

// The configuration's length stands behind a model's length and steps, or a checkpoint's magic and version.
bool mutate_config(std::string& bytes, std::size_t most, unsigned seed) {
  const std::size_t at = is_model(bytes) ? kLengthAt + 8 + 8 : 8 + 4;
  std::uint64_t length = 0;
  if (bytes.size() < at + sizeof length) return false;
  std::memcpy(&length, bytes.data() + at, sizeof length);
  const std::size_t begin = at + sizeof length;
  if (length > bytes.size() - begin) return false;
  std::string config = bytes.substr(begin, length);
  mutate(config, config.size() + most - bytes.size(), seed);
  bytes.replace(begin, length, config);
  length = config.size();
  std::memcpy(bytes.data() + at, &length, sizeof length);
  return true;
}

void seal(std::string& bytes) {
  if (is_model(bytes)) {
    const std::uint64_t length = bytes.size() + kFooterBytes;
    std::memcpy(bytes.data() + kLengthAt, &length, sizeof length);
  }
  const std::uint32_t sum = crc_32(0, bytes);
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum).append(kEnd);
}

}  // namespace
}  // namespace slide::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using namespace slide;
  using namespace slide::fuzz;
  if (max_size <= kFooterBytes) return LLVMFuzzerMutate(data, size, max_size);
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.ends_with(kEnd) && size >= kFooterBytes) bytes.resize(size - kFooterBytes);
  const std::size_t most = max_size - kFooterBytes;
  bytes.resize(std::min(bytes.size(), most));
  if (seed % 4 != 0 || !mutate_config(bytes, most, seed)) mutate(bytes, most, seed);
  seal(bytes);
  return put(bytes, data, max_size);
}
