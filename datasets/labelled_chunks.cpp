#include "datasets/labelled_chunks.h"

#include "engine/base/error.h"

namespace slide {

LabelledChunks::LabelledChunks(const TextSource& source, const LineRules& rules, std::size_t chunk_bytes)
    : source_(source), rules_(rules) {
  const auto let_go = [&](const char* begin, const char* end) { source.let_go(begin, end); };
  for (const std::string_view text : cut_lines(without_byte_order_mark(source.text), chunk_bytes, let_go)) {
    chunks_.emplace_back().text = text;
  }
}

void LabelledChunks::split(std::string_view line, LabelledLine& parts) const {
  if (rules_.plain) return split_plain(line, rules_.form, parts);
  split_labelled(line, rules_.form, Labels::kRequired, parts);
}

void LabelledChunks::check_faults() const {
  std::uint64_t before = 0;
  for (const Chunk& chunk : chunks_) {
    if (chunk.fault) {
      fail_input("{}:{}:{}: {}", source_.origin, before + chunk.lines, chunk.fault->column,
                 chunk.fault->message);
    }
    before += chunk.lines;
  }
}

}  // namespace slide
