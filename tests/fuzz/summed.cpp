#include "tests/fuzz/summed.h"

#include <cstdint>
#include <cstring>

#include "engine/base/summed_file.h"
#include "engine/model/model_file.h"

namespace slide::fuzz {

namespace {

// offset of a model's length, after magic, version and flags
constexpr std::size_t kModelLengthAt = 8 + 4 + 4;
constexpr std::string_view kEnd = "SLIDEEND";

bool is_model(const std::string& file) {
  return file.starts_with(kModelMagic) && file.size() >= kModelLengthAt + 8;
}

// Offset of the configuration's length: after a model's length and steps, or a checkpoint's magic and
// version.
std::size_t config_at(const std::string& file) {
  return is_model(file) ? kModelLengthAt + 8 + 8 : 8 + 4;
}

}  // namespace

std::optional<std::string> config_of(const std::string& file) {
  const std::size_t at = config_at(file);
  std::uint64_t length = 0;
  if (file.size() < at + sizeof length) return {};
  std::memcpy(&length, file.data() + at, sizeof length);
  const std::size_t begin = at + sizeof length;
  if (length > file.size() - begin) return {};
  return file.substr(begin, length);
}

void replace_config(std::string& file, const std::string& config) {
  const std::size_t at = config_at(file);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data() + at, sizeof length);
  file.replace(at + sizeof length, length, config);
  length = config.size();
  std::memcpy(file.data() + at, &length, sizeof length);
}

void unseal(std::string& file) {
  if (file.ends_with(kEnd) && file.size() >= kFooterBytes) file.resize(file.size() - kFooterBytes);
}

void seal(std::string& file) {
  if (is_model(file)) {
    const std::uint64_t length = file.size() + kFooterBytes;
    std::memcpy(file.data() + kModelLengthAt, &length, sizeof length);
  }
  const std::uint32_t sum = crc_32(0, file);
  file.append(reinterpret_cast<const char*>(&sum), sizeof sum).append(kEnd);
}

}  // namespace slide::fuzz
