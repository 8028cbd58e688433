#include "engine/run/label_index.h"

#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/run/label_names.h"

namespace slide {

LabelIndex::LabelIndex(const std::string& names_file) : named_(true) {
  const NameList names = read_names(names_file, warning_);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (ids_.contains(names[i]))
      fail_input("{}:{}:1: the name '{}' is there twice", names_file, i + 1, shown_part(names[i]));
    add(names[i]);
  }
  if (names.size() == 0) fail_input("{}: there are no names of labels", names_file);
  fixed_ = true;
  limit_ = static_cast<std::uint32_t>(names_.size());
}

std::optional<std::uint32_t> LabelIndex::find(std::string_view name) {
  const auto found = ids_.find(name);
  if (found != ids_.end() && (!fixed_ || found->second < limit_)) return found->second;
  return grows() ? std::optional(add(name)) : std::nullopt;
}

std::uint32_t LabelIndex::find_carried(std::string_view name) {
  const auto found = ids_.find(name);
  return found != ids_.end() ? found->second : add(name);
}

std::uint32_t LabelIndex::add(std::string_view name) {
  const auto id = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  return id;
}

}  // namespace slide
