// What lines of a log of interactions look like. Plain values.
#pragma once

#include <cstddef>

#include "datasets/labelled_line.h"
#include "datasets/log_columns.h"
#include "datasets/log_fields.h"

namespace slide {

// Of one part of a log.
struct LogLayout {
  TextForm form = TextForm::kItemLists;
  Separator separator = Separator::kBlanks;
  std::size_t head_bytes = 0;  // of a first line that names columns, and of blank ones before it
  std::size_t fields = 0;      // kItemPairs: of every line
  PairColumns columns;         // kItemPairs
};

// What is known of a log from another part of it.
struct KnownLog {
  TextForm form = TextForm::kItemLists;
  std::size_t fields = 0;  // of its pairs that are read; 0: not known
};

}  // namespace slide
