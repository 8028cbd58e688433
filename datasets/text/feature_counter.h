// Counts the samples that contain each feature of a text: open-addressing hash table with feature names. One
// thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace slide {

struct FeatureCount {
  std::uint64_t hash = 0;  // 0: free slot
  std::uint64_t name = 0;  // offset of its name
  std::uint32_t samples = 0;
  std::uint32_t last = 0;  // the sample that counted it last
};

class FeatureCounter {
 public:
  // Calls name() once per feature. `sample`: from 1, a distinct number per sample of this counter.
  template <class Name>
  void add(std::uint64_t hash, std::uint32_t sample, const Name& name) {
    FeatureCount& entry = entry_of(hash, name);
    if (entry.last == sample) return;
    entry.last = sample;
    ++entry.samples;
  }
  void add_count(std::uint64_t hash, std::uint32_t samples, const char* name) {
    entry_of(hash, [&] { return name; }).samples += samples;
  }
  // Calls use(entry, name) for each feature, in no particular order.
  template <class Use>
  void for_each(const Use& use) const {
    for (const FeatureCount& entry : table_) {
      if (entry.hash != 0) use(entry, names_.c_str() + entry.name);
    }
  }

 private:
  template <class Name>
  FeatureCount& entry_of(std::uint64_t hash, const Name& name) {
    if (2 * (used_ + 1) > table_.size()) grow();
    FeatureCount& entry = find(hash);
    if (entry.hash != 0) return entry;
    entry = {hash, names_.size(), 0, 0};
    names_.append(name()).push_back('\0');  // tokens contain no zero byte
    ++used_;
    return entry;
  }
  FeatureCount& find(std::uint64_t hash) {
    std::size_t at = hash & (table_.size() - 1);
    while (table_[at].hash != 0 && table_[at].hash != hash) at = (at + 1) & (table_.size() - 1);
    return table_[at];
  }
  void grow() {
    std::vector<FeatureCount> old(std::max<std::size_t>(16, 2 * table_.size()));
    old.swap(table_);
    for (const FeatureCount& entry : old) {
      if (entry.hash != 0) find(entry.hash) = entry;
    }
  }

  std::vector<FeatureCount> table_;
  std::size_t used_ = 0;
  std::string names_;
};

}  // namespace slide
