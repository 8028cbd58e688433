#include "datasets/row_stream.h"

#include <algorithm>
#include <utility>

#include "datasets/csr_sink.h"
#include "datasets/labelled_line.h"
#include "datasets/labelled_text.h"
#include "datasets/line_chunks.h"
#include "datasets/row_chunks.h"
#include "engine/base/parallel.h"

namespace slide {

RowStream::RowStream(std::string origin, const ReadOptions& options)
    : origin_(std::move(origin)), options_(options), syntax_(row_syntax(options)) {
  syntax_.blank_rows = true;
}

RowPart RowStream::read(std::string_view lines) {
  if (!std::exchange(begun_, true)) lines = without_byte_order_mark(lines);
  if (options_.format == DataFormat::kText)
    return {parse_plain_text(lines, *options_.text, options_.normalize, options_.threads), {}, {}};
  if (options_.format == DataFormat::kXmc && !header_) {
    header_ = parse_xmc_header(lines, origin_);
    syntax_ = row_syntax(options_, *header_);
    lines.remove_prefix(header_->bytes);
    lines_ = 1;
  }
  return read_rows(header_ ? take_promised(lines) : lines);
}

RowPart RowStream::read_rows(std::string_view lines) {
  const TextSource source{lines, origin_};
  const int threads = resolve_threads(options_.threads);
  std::vector<RowChunk> chunks = cut_rows(source, lines, lines_ + 1, kDefaultChunkBytes, threads);
  lines_ += lines_of(chunks);
  MemorySink sink;
  parse_rows(source, syntax_, OnFault::kEmpty, chunks, 0, sink, threads);
  RowPart part;
  std::uint64_t before = 0;
  for (const RowChunk& chunk : chunks) {
    for (const std::uint64_t row : chunk.emptied) part.bad.push_back(before + row);
    for (const PlacedFault& fault : chunk.faults) {
      if (part.faults.size() < ReadReport::kShown) part.faults.push_back(described(origin_, fault));
    }
    before += chunk.parsed.rows;
  }
  part.rows = sink.take(sizes_of(chunks), options_);
  return part;
}

// The lines up to the last sample that the header promises; counts the others.
std::string_view RowStream::take_promised(std::string_view lines) {
  std::string_view rest = lines;
  for (std::uint64_t left = header_->samples + 1 - lines_; left > 0 && !rest.empty(); --left)
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  lines.remove_suffix(rest.size());
  while (!rest.empty()) {
    ++blank_lines_;
    if (!is_blank_line(take_line(rest))) surplus_lines_ += std::exchange(blank_lines_, 0);
  }
  return lines;
}

void RowStream::finish() const {
  if (header_) check_samples(*header_, lines_ - 1 + surplus_lines_, 0, origin_);
}

}  // namespace slide
