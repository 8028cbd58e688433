#include "datasets/formats/log_users.h"

#include <utility>

namespace slide {

void LogUsers::add(std::string_view user, std::vector<std::uint32_t> held_out) {
  names_.add(user);
  held_out_.push_back(std::move(held_out));
}

void LogUsers::finish() {
  rows_.reserve(names_.size());
  for (std::uint32_t row = 0; row < names_.size(); ++row) rows_.emplace(names_[row], row);
}

std::optional<std::size_t> LogUsers::row_of(std::string_view user) const {
  const auto found = rows_.find(user);
  if (found == rows_.end()) return std::nullopt;
  return found->second;
}

}  // namespace slide
