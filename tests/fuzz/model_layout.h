// Where the fields of a model file lie, by the page of the format (engine/model/FORMAT.md), not by the
// program's reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace slide::fuzz {

enum class Kind { kNumber, kFloat, kBytes };

inline constexpr std::size_t kNoField = ~std::size_t{0};

// `count` values of `width` bytes in a row.
struct Field {
  std::string name;
  std::size_t at = 0, width = 0, count = 1;
  Kind kind = Kind::kNumber;
  std::size_t counted_by = kNoField;  // field whose value is the number of values here, or one less

  std::size_t bytes() const { return width * count; }
};

struct Section {
  std::string name;
  std::size_t begin = 0, end = 0;
};

struct Layout {
  std::vector<Field> fields;
  std::vector<Section> sections;
  std::uint32_t flags = 0;
  std::size_t config_at = 0, config_bytes = 0;
  std::uint64_t features = 0, labels = 0, text_form = 0;
  std::size_t first_label_name = kNoField;  // field
};

// Flags of the page.
inline constexpr std::uint32_t kOptimizer = 1, kLinear = 2, kText = 4, kFactors = 8, kKnn = 16, kBf16 = 32,
                               kInt8 = 64, kUnseen = 128, kDense = 256, kCrosses = 512,
                               kFeatureWeights = 1024, kThresholds = 2048, kCalibration = 4096;

// Throws Error where a file does not follow the page to its last byte.
Layout layout_of(const std::string& file);

}  // namespace slide::fuzz
