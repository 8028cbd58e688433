// Names of labels in samples that the model lacks, numbered from 0 in order of first occurrence. Readers give
// them ids after the model's labels, so that metrics count them as missed. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace slide {

class UnknownLabels {
 public:
  UnknownLabels() = default;
  UnknownLabels(const UnknownLabels&) = delete;  // numbers_ looks into names_
  UnknownLabels& operator=(const UnknownLabels&) = delete;
  UnknownLabels(UnknownLabels&&) = default;
  UnknownLabels& operator=(UnknownLabels&&) = default;

  // The number of a name; a new name gets the next one.
  std::uint32_t number(std::string_view name) {
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    const auto next = static_cast<std::uint32_t>(names_.size());
    numbers_.emplace(names_.emplace_back(name), next);
    return next;
  }
  std::size_t size() const { return names_.size(); }
  const std::string& operator[](std::size_t number) const { return names_[number]; }

 private:
  std::deque<std::string> names_;  // which stay where they are
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace slide
