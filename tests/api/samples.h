// CSR samples in memory, as a caller of the library holds them.
#pragma once

#include <slide/data.h>
#include <slide/error.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace slide::test {

struct Samples {
  std::vector<std::int64_t> offsets{0}, label_offsets{0};
  std::vector<std::int32_t> ids, label_ids;
  std::vector<float> values;
  std::uint64_t features = 0, labels = 0;  // numbers of columns

  void add(const std::vector<std::uint32_t>& row, const std::vector<float>& row_values,
           const std::vector<std::uint32_t>& row_labels) {
    ids.insert(ids.end(), row.begin(), row.end());
    values.insert(values.end(), row_values.begin(), row_values.end());
    label_ids.insert(label_ids.end(), row_labels.begin(), row_labels.end());
    offsets.push_back(static_cast<std::int64_t>(ids.size()));
    label_offsets.push_back(static_cast<std::int64_t>(label_ids.size()));
  }
  Samples slice(std::size_t first, std::size_t count) const {
    Samples part;
    part.features = features;
    part.labels = labels;
    for (std::size_t i = first; i < first + count; ++i) {
      part.add({ids.begin() + offsets[i], ids.begin() + offsets[i + 1]},
               {values.begin() + offsets[i], values.begin() + offsets[i + 1]},
               {label_ids.begin() + label_offsets[i], label_ids.begin() + label_offsets[i + 1]});
    }
    return part;
  }
  // Data that keeps the borrowed arrays alive.
  api::Data data() const {
    const auto kept = std::make_shared<const Samples>(*this);
    return api::Data::from_csr({kept->offsets, kept->ids, kept->values.data(), features},
                               {kept->label_offsets, kept->label_ids, nullptr, labels}, kept);
  }
};

// Sample i has label i % 9 and features that determine it; 12 features.
inline Samples tiny_samples(std::uint32_t count = 200) {
  Samples samples;
  samples.features = 12;
  samples.labels = 9;
  for (std::uint32_t i = 0; i < count; ++i)
    samples.add({i % 9, i % 9 + 1, 11}, {1.0F, 0.5F, 0.25F * float(1 + i % 3)}, {i % 9});
  return samples;
}

}  // namespace slide::test
