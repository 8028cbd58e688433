#include "datasets/text/labelled_chunks.h"

#include <utility>

#include "engine/base/error.h"

namespace slide {

namespace {

// Chunks of whole records, like cut_lines() for lines.
std::vector<std::string_view> cut_records(std::string_view text, const Table& table, std::size_t chunk_bytes,
                                          const TextSource& source) {
  std::vector<std::string_view> chunks;
  while (!text.empty()) {
    std::string_view rest = text;
    while (!rest.empty() && text.size() - rest.size() < chunk_bytes) table.take_record(rest);
    chunks.push_back(text.substr(0, text.size() - rest.size()));
    source.release_pages(text.data(), rest.data());
    text = rest;
  }
  return chunks;
}

// The line and column of a fault in a record, whose column counts from the beginning of the record; `number`:
// first line of the record.
PlacedFault placed(std::string_view record, std::uint64_t number, RowFault fault) {
  const std::string_view before = record.substr(0, std::min(fault.column - 1, record.size()));
  const std::size_t last = before.rfind('\n');
  if (last == std::string_view::npos) return {number, std::move(fault)};
  fault.column -= last + 1;
  return {number + static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n')),
          std::move(fault)};
}

}  // namespace

LabelledChunks::LabelledChunks(const TextSource& source, const LineRules& rules, std::size_t chunk_bytes)
    : source_(source), rules_(rules) {
  const auto release_pages = [&](const char* begin, const char* end) { source.release_pages(begin, end); };
  const bool is_csv = rules.table != nullptr && rules.table->delimiter() != '\0';
  const std::string_view whole = rules.table != nullptr ? source.text : without_byte_order_mark(source.text);
  for (const std::string_view text : is_csv ? cut_records(whole, *rules.table, chunk_bytes, source)
                                            : cut_lines(whole, chunk_bytes, release_pages))
    chunks_.emplace_back().text = text;
}

// Returns false for a malformed line, whose error the chunk keeps.
bool LabelledChunks::split(std::string_view line, std::uint64_t number, LabelledLine& parts,
                           Chunk& chunk) const {
  try {
    if (rules_.table != nullptr) {
      rules_.table->split(line, parts);
    } else if (rules_.plain) {
      split_plain(line, rules_.form, parts);
    } else {
      split_labelled(line, rules_.form, Labels::kRequired, parts, rules_.separator);
    }
    return true;
  } catch (RowFault& fault) {
    ++chunk.bad;
    if (chunk.faults.size() < ReadReport::kShown)
      chunk.faults.push_back(placed(line, number, std::move(fault)));
    return false;
  }
}

void LabelledChunks::check_faults() const {
  if (rules_.skip_bad || rules_.keep_bad) return;
  ReadReport report;
  report_faults(report);
  if (!report.first.empty()) throw InputError(report.first.front());
}

void LabelledChunks::report_faults(ReadReport& report) const {
  std::uint64_t before = rules_.lines_before;
  for (const Chunk& chunk : chunks_) {
    report.bad_rows += chunk.bad;
    for (const PlacedFault& fault : chunk.faults)
      report.add_shown(described(source_.origin, {before + fault.line, fault.fault}));
    before += chunk.lines;
  }
}

std::vector<std::uint64_t> LabelledChunks::emptied() const {
  std::vector<std::uint64_t> all;
  std::uint64_t before = 0;
  for (const Chunk& chunk : chunks_) {
    for (const std::uint64_t row : chunk.emptied) all.push_back(before + row);
    before += chunk.rows;
  }
  return all;
}

std::uint64_t LabelledChunks::lines() const {
  std::uint64_t sum = 0;
  for (const Chunk& chunk : chunks_) sum += chunk.lines;
  return sum;
}

}  // namespace slide
