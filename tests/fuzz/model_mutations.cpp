#include "tests/fuzz/model_mutations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "engine/base/rng.h"
#include "engine/base/summed_file.h"
#include "tests/fuzz/summed.h"

namespace slide::fuzz {

namespace {

constexpr std::size_t kLengthAt = 8 + 4 + 4;  // offset of the header's `length`

// Boundary values of numbers; others are relative to the value (kRelative).
constexpr std::array<std::uint64_t, 12> kNumbers = {0,
                                                    1,
                                                    2,
                                                    ~std::uint64_t{0},
                                                    ~std::uint64_t{0} - 1,
                                                    std::uint64_t{1} << 63,
                                                    (std::uint64_t{1} << 63) - 1,
                                                    std::uint64_t{1} << 31,
                                                    (std::uint64_t{1} << 32) - 1,
                                                    std::uint64_t{1} << 32,
                                                    std::uint64_t{1} << 48,
                                                    (std::uint64_t{1} << 48) + 1};
// Bits of floats: zeros, ones, infinities, no numbers (quiet, signalling), largest, smallest normal and least
// ones.
constexpr std::array<std::uint32_t, 14> kFloats = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
                                                   0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0x7f7fffff,
                                                   0xff7fffff, 0x00800000, 0x00000001, 0x0dffffff};
constexpr std::array<unsigned char, 8> kByteValues = {0, '\n', '\t', 0x1b, 0x7f, 0x80, 0xff, '"'};
constexpr std::size_t kRelative = 7;  // one more, one less, double, half, sign, next byte, swapped neighbours
constexpr std::size_t kPlaces = 3;    // first, last, a random one
constexpr std::size_t kArrayOperations = 6;  // filled with a value (3), reversed, rotated, one value for all
constexpr std::size_t kCountOperations = 6;
constexpr std::size_t kSectionOperations = 6;
constexpr std::array<std::string_view, 26> kKeyValues = {"0",
                                                         "1",
                                                         "-1",
                                                         "2",
                                                         "3",
                                                         "1000000",
                                                         "2147483647",
                                                         "2147483648",
                                                         "4294967295",
                                                         "4294967296",
                                                         "9223372036854775807",
                                                         "-9223372036854775808",
                                                         "0.5",
                                                         "1e308",
                                                         "-1e308",
                                                         "1e-320",
                                                         "nan",
                                                         "inf",
                                                         "-inf",
                                                         "true",
                                                         "false",
                                                         "\"\"",
                                                         "[]",
                                                         "\"/dev/zero\"",
                                                         "\"lsh\"",
                                                         "\"../../x\\u001b[2J\""};
constexpr std::size_t kKeyOperations = kKeyValues.size() + 3;  // left out, doubled, the value of another key

std::size_t element_operations(const Field& field) {
  const std::size_t own = field.kind == Kind::kFloat   ? kFloats.size()
                          : field.kind == Kind::kBytes ? kByteValues.size()
                                                       : kNumbers.size();
  return own + kRelative;
}

std::uint64_t value_at(const std::string& file, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  std::memcpy(&value, file.data() + at, width);
  return value;
}

std::uint64_t boundary(const Field& field, std::size_t operation) {
  if (field.kind == Kind::kBytes) return kByteValues[operation];
  if (field.kind == Kind::kFloat && field.width == 8)
    return std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(kFloats[operation])));
  if (field.kind == Kind::kFloat) return field.width == 2 ? kFloats[operation] >> 16 : kFloats[operation];
  const std::uint64_t value = kNumbers[operation];
  const bool sign = field.width < 8 && (value == kNumbers[5] || value == kNumbers[6]);
  return sign ? value >> (64 - 8 * field.width) : value;
}

std::uint64_t relative(std::uint64_t value, std::size_t operation, std::size_t width) {
  switch (operation) {
    case 0:
      return value + 1;
    case 1:
      return value - 1;
    case 2:
      return value * 2;
    case 3:
      return value / 2;
    case 4:
      return value ^ (std::uint64_t{1} << (8 * width - 1));
    default:
      return value << 8;
  }
}

std::uint64_t next(std::uint64_t& random) {
  return mix64(random += 0x9e3779b97f4a7c15);
}

}  // namespace

// Changes in place are made at once; one that moves what is behind it waits for the end.
struct ModelMutations::Work {
  std::string file;
  std::string what;
  std::size_t cut_at = 0, cut_bytes = 0;
  std::string put;
  bool spliced = false, length_stays = false;
  std::size_t config_change = 0;  // modulo 2^64
  bool in_config = false;

  void splice(std::size_t at, std::size_t bytes, std::string bytes_put) {
    if (spliced) return;
    spliced = true;
    cut_at = at, cut_bytes = bytes, put = std::move(bytes_put);
  }
  void note(const std::string& text) { what += (what.empty() ? "" : "; ") + text; }
};

ModelMutations::ModelMutations(std::string file) : file_(std::move(file)), layout_(layout_of(file_)) {
  find_keys();
  plan_fields();
  for (std::size_t k = 0; k < keys_.size(); ++k)
    for (std::size_t o = 0; o < kKeyOperations; ++o) plan_.push_back({What::kKey, k, o});
  for (std::size_t s = 0; s < layout_.sections.size(); ++s)
    for (std::size_t o = 0; o < kSectionOperations; ++o) plan_.push_back({What::kSection, s, o});
}

void ModelMutations::plan_fields() {
  std::size_t names = 0;
  for (std::size_t f = 0; f < layout_.fields.size(); ++f) {
    const Field& field = layout_.fields[f];
    const bool of_names = field.name.find("name") != std::string::npos;
    if (of_names && ++names > 8 && f < layout_.first_label_name) continue;  // of features: a few
    const std::size_t places = field.count == 1 ? 1 : kPlaces;
    for (std::size_t o = 0; o < places * element_operations(field); ++o)
      plan_.push_back({What::kElement, f, o});
    for (std::size_t o = 0; field.count > 1 && o < kArrayOperations; ++o)
      plan_.push_back({What::kArray, f, o});
    const auto counted = [f](const Field& other) { return other.counted_by == f; };
    const bool counts = std::any_of(layout_.fields.begin(), layout_.fields.end(), counted);
    for (std::size_t o = 0; counts && o < kCountOperations; ++o) plan_.push_back({What::kCount, f, o});
  }
}

void ModelMutations::find_keys() {
  const std::string_view config(file_.data() + layout_.config_at, layout_.config_bytes);
  for (std::size_t at = 0; at < config.size();) {
    const std::size_t end = std::min(config.find('\n', at), config.size());
    const std::string_view line = config.substr(at, end - at);
    const std::size_t equals = line.find(" = ");
    if (equals != line.npos && line.front() != '#')
      keys_.push_back({layout_.config_at + at, line.size(), std::string(line.substr(0, equals))});
    at = end + 1;
  }
}

void ModelMutations::change_element(const Field& field, std::size_t operation, std::uint64_t random,
                                    Work& work) const {
  const std::size_t own = element_operations(field), place = operation / own;
  const std::size_t i = place == 0 ? 0 : place == 1 ? field.count - 1 : random % field.count;
  const std::size_t at = field.at + i * field.width, kind = operation % own;
  const std::uint64_t before = value_at(work.file, at, field.width);
  std::uint64_t value = 0;
  if (kind < own - kRelative) {
    value = boundary(field, kind);
  } else if (kind == own - 1) {  // neighbours swapped
    const std::size_t other = at + (i + 1 < field.count ? field.width : 0);
    std::swap_ranges(work.file.begin() + std::ptrdiff_t(at),
                     work.file.begin() + std::ptrdiff_t(at + field.width),
                     work.file.begin() + std::ptrdiff_t(other == at ? field.at : other));
    return work.note(fmt::format("{} [{}] swapped with the next", field.name, i));
  } else {
    value = relative(before, kind - (own - kRelative), field.width);
  }
  std::memcpy(work.file.data() + at, &value, field.width);
  work.length_stays |= at == kLengthAt;
  work.note(fmt::format("{} [{}] from {:#x} to {:#x}", field.name, i, before,
                        value_at(work.file, at, field.width)));
}

void ModelMutations::change_array(const Field& field, std::size_t operation, Work& work) const {
  const auto part = [&](std::size_t i) { return work.file.substr(field.at + i * field.width, field.width); };
  const bool floats = field.kind == Kind::kFloat;
  const std::size_t last = field.count - 1;
  const std::uint64_t fills[] = {0, floats ? boundary(field, 9) : 1, ~std::uint64_t{0}};
  std::string changed;
  for (std::size_t i = 0; i < field.count; ++i) {
    if (operation < 3) changed.append(reinterpret_cast<const char*>(&fills[operation]), field.width);
    if (operation == 3) changed += part(last - i);
    if (operation == 4) changed += part(i == last ? 0 : i + 1);
    if (operation == 5) changed += part(last);
  }
  work.file.replace(field.at, field.bytes(), changed);
  work.note(fmt::format("{}: array operation {}", field.name, operation));
}

// Lets a count and the arrays that it counts agree; with operations above 2 only one of the arrays.
void ModelMutations::change_count(std::size_t index, std::size_t operation, Work& work) const {
  const Field& count = layout_.fields[index];
  std::vector<const Field*> arrays;
  for (const Field& field : layout_.fields)
    if (field.counted_by == index) arrays.push_back(&field);
  if (operation > 2) arrays.resize(1);
  const std::size_t begin = arrays.front()->at, end = arrays.back()->at + arrays.back()->bytes();
  std::string put;
  std::size_t at = begin;
  for (const Field* array : arrays) {
    put += work.file.substr(at, array->at - at);
    std::string own = work.file.substr(array->at, array->bytes());
    if (operation % 3 == 0) own += own.substr(own.size() - array->width);
    if (operation % 3 == 1) own.resize(own.size() - array->width);
    if (operation % 3 == 2) own += own;
    put += own;
    at = array->at + array->bytes();
  }
  std::uint64_t value = value_at(work.file, count.at, count.width);
  value = operation % 3 == 0 ? value + 1 : operation % 3 == 1 ? value - 1 : value * 2;
  std::memcpy(work.file.data() + count.at, &value, count.width);
  work.splice(begin, end - begin, put);
  work.note(fmt::format("{} now {}, with its arrays ({})", count.name, value, operation));
}

void ModelMutations::change_key(const Key& key, std::size_t operation, std::uint64_t random,
                                Work& work) const {
  if (work.spliced) return;
  const std::string line = file_.substr(key.at, key.bytes);
  std::string put;
  if (operation < kKeyValues.size()) {
    put = fmt::format("{} = {}", key.name, kKeyValues[operation]);
  } else if (operation == kKeyValues.size() + 1) {
    put = line + "\n" + line;
  } else if (operation == kKeyValues.size() + 2) {
    const Key& other = keys_[random % keys_.size()];
    put = key.name + file_.substr(other.at + other.name.size(), other.bytes - other.name.size());
  }
  work.in_config = true;
  work.config_change = put.size() - line.size();
  work.splice(key.at, key.bytes, put);
  work.note(fmt::format("'{}' instead of '{}'", put, line));
}

void ModelMutations::change_section(std::size_t index, std::size_t operation, std::uint64_t random,
                                    Work& work) const {
  const Section& section = layout_.sections[index];
  const std::string bytes = work.file.substr(section.begin, section.end - section.begin);
  const std::size_t middle = section.begin + random % std::max<std::size_t>(1, bytes.size());
  const bool is_last = index + 1 == layout_.sections.size();
  const std::size_t after = is_last ? section.end : layout_.sections[index + 1].end;
  switch (operation) {
    case 0:
      work.splice(section.begin, bytes.size(), "");
      break;
    case 1:
      work.splice(section.end, 0, bytes);
      break;
    case 2:
      work.splice(section.begin, after - section.begin,
                  work.file.substr(section.end, after - section.end) + bytes);
      break;
    case 3:
      work.splice(section.begin, work.file.size() - section.begin, "");
      break;
    case 4:
      work.splice(middle, work.file.size() - middle, "");
      break;
    default:
      work.splice(middle, 1 + random / 7 % 16, "");
      break;
  }
  work.note(fmt::format("section {}: operation {}", section.name, operation));
}

void ModelMutations::change_bytes(const Section& section, std::uint64_t random, Work& work) const {
  const std::size_t size = section.end - section.begin;
  if (size == 0) return;
  const std::size_t count = 1 + next(random) % 16;
  for (std::size_t i = 0; i < count; ++i) {
    char& byte = work.file[section.begin + next(random) % size];
    byte = next(random) % 2 == 0 ? static_cast<char>(next(random))
                                 : static_cast<char>(byte ^ (1 << next(random) % 8));
  }
  work.note(fmt::format("{} random bytes in section {}", count, section.name));
}

ModelMutations::Step ModelMutations::random_step(std::uint64_t& random) const {
  if (next(random) % 3 == 0) return {What::kBytes, next(random) % layout_.sections.size(), 0};
  if (next(random) % 3 == 0) return plan_[next(random) % plan_.size()];
  const std::size_t f =
      next(random) % layout_.fields.size();  // each field as often, short names or large matrices
  const std::size_t operations = kPlaces * element_operations(layout_.fields[f]);
  return {What::kElement, f, next(random) % operations};
}

void ModelMutations::apply(const Step& step, std::uint64_t random, Work& work) const {
  switch (step.what) {
    case What::kElement:
      return change_element(layout_.fields[step.index], step.operation, random, work);
    case What::kArray:
      return change_array(layout_.fields[step.index], step.operation, work);
    case What::kCount:
      return change_count(step.index, step.operation, work);
    case What::kKey:
      return change_key(keys_[step.index], step.operation, random, work);
    case What::kSection:
      return change_section(step.index, step.operation, random, work);
    case What::kBytes:
      return change_bytes(layout_.sections[step.index], random, work);
  }
}

Mutated ModelMutations::mutate(std::uint64_t seed, std::uint64_t number) const {
  constexpr std::uint64_t kStride = 1000003;  // a prime above any plan: each step once
  std::uint64_t random = mix64(mix64(seed) + number);
  Work work;
  work.file = file_;
  const std::uint64_t place = number / 2;
  if (number % 2 == 0 && place < plan_.size()) {
    apply(plan_[(mix64(seed) % plan_.size() + place * kStride) % plan_.size()], next(random), work);
  } else {
    const std::size_t steps = 1 + next(random) % 2 * (next(random) % 5);
    for (std::size_t i = 0; i < steps; ++i) {
      const Step step = random_step(random);
      apply(step, next(random), work);
    }
  }
  if (work.in_config) {
    const std::uint64_t bytes = layout_.config_bytes + work.config_change;
    std::memcpy(work.file.data() + layout_.config_at - sizeof bytes, &bytes, sizeof bytes);
  }
  const std::uint64_t length = value_at(work.file, kLengthAt, 8);
  if (work.spliced) {
    const std::size_t at = std::min(work.cut_at, work.file.size());
    work.file.replace(at, std::min(work.cut_bytes, work.file.size() - at), work.put);
  }
  unseal(work.file);
  seal(work.file);
  if (work.length_stays && work.file.size() >= kLengthAt + 8) {
    std::memcpy(work.file.data() + kLengthAt, &length, sizeof length);
    work.file.resize(work.file.size() - kFooterBytes);
    const std::uint32_t sum = crc_32(0, work.file);
    work.file.append(reinterpret_cast<const char*>(&sum), sizeof sum).append(kEndMarker);
  }
  return {std::move(work.file), std::move(work.what)};
}

}  // namespace slide::fuzz
