// A text with labels in chunks of whole lines, which threads go through on their own: what learning and
// reading share. Each chunk belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "datasets/labelled_line.h"
#include "datasets/line_chunks.h"
#include "datasets/read_report.h"
#include "datasets/text_source.h"

namespace slide {

// What the lines of a text are.
struct LineRules {
  TextForm form = TextForm::kFastText;
  bool plain = false;     // every line is a sample, and need not have labels
  bool skip_bad = false;  // a fault ends its line only, not its chunk
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
    mine.lines = mine.bad = 0;
    mine.faults.clear();
    for (std::string_view rest = mine.text; !rest.empty();) {
      const std::string_view line = take_line(rest);
      ++mine.lines;
      if (!rules_.plain && is_blank_line(line)) continue;
      if (split(line, parts, mine)) {
        use(parts);
      } else if (!rules_.skip_bad) {
        break;
      }
    }
    source_.let_go(mine.text.data(), mine.text.data() + mine.text.size());
  }
  // Throws InputError with the fault that comes first in the text, if there is one and it counts.
  void check_faults() const;
  // Tells of the lines that were left out.
  void report_faults(ReadReport& report) const;

 private:
  struct Chunk {
    std::string_view text;
    std::uint64_t lines = 0;          // gone through
    std::uint64_t bad = 0;            // of them, with faults
    std::vector<PlacedFault> faults;  // of the first few, lines counted in the chunk
  };

  bool split(std::string_view line, LabelledLine& parts, Chunk& chunk) const;

  const TextSource& source_;
  LineRules rules_;
  std::vector<Chunk> chunks_;
};

}  // namespace slide
