#include "datasets/labelled_chunks.h"

#include <utility>

#include "engine/base/error.h"

namespace slide {

LabelledChunks::LabelledChunks(const TextSource& source, const LineRules& rules, std::size_t chunk_bytes)
    : source_(source), rules_(rules) {
  const auto let_go = [&](const char* begin, const char* end) { source.let_go(begin, end); };
  for (const std::string_view text : cut_lines(without_byte_order_mark(source.text), chunk_bytes, let_go)) {
    chunks_.emplace_back().text = text;
  }
}

// False when there is a fault, which the chunk keeps.
bool LabelledChunks::split(std::string_view line, LabelledLine& parts, Chunk& chunk) const {
  try {
    if (rules_.plain) {
      split_plain(line, rules_.form, parts);
    } else {
      split_labelled(line, rules_.form, Labels::kRequired, parts);
    }
    return true;
  } catch (RowFault& fault) {
    ++chunk.bad;
    if (chunk.faults.size() < ReadReport::kShown) chunk.faults.push_back({chunk.lines, std::move(fault)});
    return false;
  }
}

void LabelledChunks::check_faults() const {
  if (rules_.skip_bad) return;
  ReadReport report;
  report_faults(report);
  if (!report.first.empty()) throw InputError(report.first.front());
}

void LabelledChunks::report_faults(ReadReport& report) const {
  std::uint64_t before = 0;
  for (const Chunk& chunk : chunks_) {
    report.bad_rows += chunk.bad;
    for (const PlacedFault& fault : chunk.faults)
      report.add_shown(described(source_.origin, {before + fault.line, fault.fault}));
    before += chunk.lines;
  }
}

}  // namespace slide
