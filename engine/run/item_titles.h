// Titles of a model's labels by name, for people: the items of a shop, the films of MovieLens. Immutable,
// safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/model.h"

namespace slide {

class ItemTitles {
 public:
  // Reads a file, plain or compressed, with a line for each label: its name and its title, and possibly more,
  // separated as in MovieLens: by TABs, "::", bars, commas or semicolons; fields may be quoted. Lines of
  // names that the model lacks, such as a header, count for nothing. A file that is not UTF-8 is read as
  // Latin-1. Throws InputError where the file has no such line, or the model no names, and for quotes that
  // are never closed between commas, or hold a TAB. O(bytes).
  ItemTitles(const Model& model, const std::string& path);

  // Empty where the label has none.
  std::string_view operator[](std::uint32_t label) const { return titles_[label]; }
  // A note on how the file was read; empty without one.
  const std::string& note() const { return note_; }
  // A warning of titles that are numbers, or many to an item, as in a log; else empty.
  const std::string& warning() const { return warning_; }

 private:
  struct Lines {
    std::size_t titled = 0, changed = 0;  // with a title; of these, with another than a line before
  };
  Lines read_titles(std::string_view rest, const TextModel& items, const std::string& path);
  void check_titles(const Lines& lines, const std::string& path);

  std::vector<std::string> titles_;  // by label
  std::string note_, warning_;
};

}  // namespace slide
