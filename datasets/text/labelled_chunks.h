// Chunks of labelled text or of a table: whole lines or records, processed by independent tasks; shared by
// learning and reading. One thread per chunk at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/read_report.h"
#include "datasets/rows/text_source.h"
#include "datasets/text/table.h"

namespace slide {

// Interpretation of lines.
struct LineRules {
  TextForm form = TextForm::kFastText;
  bool plain = false;              // every line is a sample, with or without labels
  bool skip_bad = false;           // an error drops its line, not the rest of its chunk
  bool keep_bad = false;           // an erroneous line becomes a sample without text
  const Table* table = nullptr;    // lines are records of this table, after its header
  std::uint64_t lines_before = 0;  // of the file
  std::string separator = ",";     // of labels, where the lines are no records
};

class LabelledChunks {
 public:
  // `source` must outlive this object; chunks have about `chunk_bytes` bytes.
  LabelledChunks(const TextSource& source, const LineRules& rules, std::size_t chunk_bytes);

  std::size_t size() const { return chunks_.size(); }
  // Calls use(parts) for each sample of a chunk. `parts` is scratch memory.
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
        parts.dense = {};
      }
      ++mine.rows;
      use(parts);
    }
    source_.release_pages(mine.text.data(), mine.text.data() + mine.text.size());
  }
  // Throws InputError with the first error of the text, unless errors are skipped.
  void check_faults() const;
  // Reports skipped lines, or lines kept without text.
  void report_faults(ReadReport& report) const;
  // Indices of the samples kept without text, ascending.
  std::vector<std::uint64_t> emptied() const;
  // Number of lines of all chunks, after processing.
  std::uint64_t lines() const;
  bool has_weights() const { return rules_.table != nullptr && rules_.table->has_weights(); }
  std::size_t dense_columns() const { return rules_.table == nullptr ? 0 : rules_.table->dense_columns(); }

 private:
  struct Chunk {
    std::string_view text;
    std::uint64_t lines = 0;  // processed
    std::uint64_t rows = 0;
    std::uint64_t bad = 0;               // malformed lines
    std::vector<PlacedFault> faults;     // first few, with line numbers within the chunk
    std::vector<std::uint64_t> emptied;  // rows, counted within the chunk
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
