// A text with labels, or a table, in chunks of whole lines or records, which threads go through on their own:
// what learning and reading share. Each chunk belongs to one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/labelled_line.h"
#include "datasets/line_chunks.h"
#include "datasets/read_report.h"
#include "datasets/table.h"
#include "datasets/text_source.h"

namespace slide {

// What the lines of a text are.
struct LineRules {
  TextForm form = TextForm::kFastText;
  bool plain = false;              // every line is a sample, and need not have labels
  bool skip_bad = false;           // a fault ends its line only, not its chunk
  bool keep_bad = false;           // nor that: a line with a fault is a sample without text
  const Table* table = nullptr;    // the lines are records of this, behind its head
  std::uint64_t lines_before = 0;  // of the file
  std::string separator = ",";     // of labels, where the lines are no records
};

class LabelledChunks {
 public:
  // `source` outlives this object; chunks have about `chunk_bytes`.
  LabelledChunks(const TextSource& source, const LineRules& rules, std::size_t chunk_bytes);

  std::size_t size() const { return chunks_.size(); }
  // Calls use(parts of the line) for each sample of a chunk. `parts` is scratch memory.
  template <class Use>
  void for_each_line(std::size_t chunk, LabelledLine& parts, const Use& use) {
    Chunk& mine = chunks_[chunk];
    mine.lines = mine.rows = mine.bad = 0;
    mine.faults.clear();
    mine.emptied.clear();
    for (std::string_view rest = mine.text; !rest.empty();) {
      const std::string_view line = take_record(rest);
      const std::uint64_t first_line = mine.lines + 1;
      mine.lines += 1 + (rules_.table == nullptr ? 0 : std::count(line.begin(), line.end(), '\n'));
      if (!rules_.plain && is_blank_line(line)) continue;
      if (!split(line, first_line, parts, mine)) {
        if (rules_.skip_bad) continue;
        if (!rules_.keep_bad) break;
        mine.emptied.push_back(mine.rows);
        parts.labels.clear();
        parts.text = {};
      }
      ++mine.rows;
      use(parts);
    }
    source_.let_go(mine.text.data(), mine.text.data() + mine.text.size());
  }
  // Throws InputError with the fault that comes first in the text, if there is one and it counts.
  void check_faults() const;
  // Tells of the lines that were left out, or kept without text.
  void report_faults(ReadReport& report) const;
  // The samples without text that stand for these, ascending.
  std::vector<std::uint64_t> emptied() const;
  // Lines of all chunks, once they are gone through.
  std::uint64_t lines() const;
  bool has_weights() const { return rules_.table != nullptr && rules_.table->has_weights(); }

 private:
  struct Chunk {
    std::string_view text;
    std::uint64_t lines = 0;  // gone through
    std::uint64_t rows = 0;
    std::uint64_t bad = 0;               // lines with faults
    std::vector<PlacedFault> faults;     // of the first few, lines counted in the chunk
    std::vector<std::uint64_t> emptied;  // rows, counted in the chunk
  };

  std::string_view take_record(std::string_view& rest) const {
    return rules_.table == nullptr ? take_line(rest) : rules_.table->take_record(rest);
  }
  bool split(std::string_view line, std::uint64_t number, LabelledLine& parts, Chunk& chunk) const;

  const TextSource& source_;
  LineRules rules_;
  std::vector<Chunk> chunks_;
};

}  // namespace slide
