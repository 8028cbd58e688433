// Numbers of the labels that files name. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace slide {

// Maps labels in files to ids: the number in the file, or the id of the name where the file has names. One
// thread.
class LabelIndex {
 public:
  LabelIndex() = default;
  // Names from a file, one per line, label 0 first; other names are errors. Throws InputError for a duplicate
  // name.
  explicit LabelIndex(const std::string& names_file);
  LabelIndex(const LabelIndex&) = delete;  // ids_ refers to names_
  LabelIndex& operator=(const LabelIndex&) = delete;
  LabelIndex(LabelIndex&&) = default;
  LabelIndex& operator=(LabelIndex&&) = default;

  // A warning where the file of names is not UTF-8; else empty.
  const std::string& warning() const { return warning_; }
  // Whether labels have names.
  bool named() const { return named_; }
  // Whether unknown names are added: names come from data, not from a names file.
  bool grows() const { return named_ && !fixed_; }
  // Upper bound of all labels; 0: unknown.
  std::uint32_t limit() const { return limit_; }
  std::string_view name(std::uint32_t label) const { return names_[label]; }
  std::size_t names() const { return names_.size(); }
  // nullopt for an unknown name, unless the index grows, which adds it.
  std::optional<std::uint32_t> find(std::string_view name);
  // The id of a label of a sample: an unknown name gets the next id, after the names of the file.
  std::uint32_t find_carried(std::string_view name);

  // Whether data with numeric labels were read.
  bool knows_numbers() const { return numbered_; }
  void name_by_data() { named_ = true; }
  void number_by_data() { numbered_ = true; }
  void limit_to(std::uint32_t labels) { limit_ = labels > limit_ ? labels : limit_; }

 private:
  std::uint32_t add(std::string_view name);

  bool named_ = false, fixed_ = false, numbered_ = false;
  std::uint32_t limit_ = 0;
  std::string warning_;
  std::deque<std::string> names_;  // stable addresses
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

}  // namespace slide
