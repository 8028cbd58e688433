#include "datasets/row_stream.h"

#include <algorithm>
#include <utility>

#include "datasets/rows/csr_sink.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/row_chunks.h"
#include "datasets/rows/text_encoding.h"
#include "datasets/text/csv_record.h"
#include "datasets/text/labelled_text.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 26;

// Counts the texts of a part and its texts without a known word. Rows that are no texts are empty.
void count_texts(std::uint64_t texts, RowPart& part) {
  part.texts = texts;
  if (part.rows.dense_count() > 0) return;
  std::uint64_t empty = 0;
  for (std::size_t i = 0; i < part.rows.size(); ++i) empty += part.rows.features(i).ids.empty() ? 1 : 0;
  part.wordless = empty - (part.rows.size() - texts);
}

}  // namespace

RowStream::RowStream(std::string origin, const ReadOptions& options)
    : origin_(std::move(origin)), options_(options), syntax_(row_syntax(options)) {
  syntax_.blank_rows = true;
}

// Parses the next whole lines. The first call may get a byte order mark, and for XMC text the header.
RowPart RowStream::read(std::string_view lines) {
  if (!std::exchange(begun_, true)) lines = without_byte_order_mark(lines);
  if (options_.format == DataFormat::kText) return read_text(lines);
  if (is_table(options_.format)) return read_records(lines);
  if (options_.format == DataFormat::kXmc && !header_) {
    header_ = parse_xmc_header(lines, origin_);
    syntax_ = row_syntax(options_, *header_);
    lines.remove_prefix(header_->bytes);
    lines_ = 1;
  }
  return read_rows(header_ ? take_promised(lines) : lines);
}

RowPart RowStream::read_text(std::string_view lines) {
  RowPart part{parse_plain_text(lines, *options_.text, options_.normalize, options_.threads), {}, {}};
  warn_of_encoding(lines, part);
  lines_ += static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
  std::uint64_t texts = 0;
  while (!lines.empty()) texts += is_blank_line(take_line(lines)) ? 0 : 1;
  count_texts(texts, part);
  return part;
}

// Once in all.
void RowStream::warn_of_encoding(std::string_view lines, RowPart& part) {
  if (warned_) return;
  std::string warning = encoding_warning(lines, origin_, lines_);
  warned_ = !warning.empty();
  if (warned_) part.warnings.push_back(std::move(warning));
}

// Parses rows in parallel. A malformed line becomes an empty row, listed in `bad`, so that each line has a
// row.
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
  part.unknown_features = unknown_of(chunks);
  part.rows = sink.take(sizes_of(chunks), options_);
  return part;
}

// The lines up to the last sample of the header; counts the others.
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

// Returns whole records, including an earlier incomplete one; keeps an incomplete record, and text before the
// header.
RowPart RowStream::read_records(std::string_view lines) {
  open_ += lines;
  std::size_t whole = open_.size();
  if (options_.format != DataFormat::kJsonl) {
    const std::size_t mark = table_ ? 0 : open_.size() - without_byte_order_mark(open_).size();
    const char delimiter =
        table_ ? table_->delimiter() : delimiter_of(options_.format, open_, options_.columns.text);
    const bool has_names = table_.has_value() || has_header_line(open_);
    whole = has_names ? mark + whole_csv_records(std::string_view(open_).substr(mark), delimiter) : 0;
  }
  if (open_.size() - whole > kMaxRecordBytes) {
    fail_input("{}:{}:1: quotes that open in this record do not close within {} MiB; check the quotes",
               origin_, lines_ + 1, kMaxRecordBytes >> 20);
  }
  const std::string records = std::exchange(open_, open_.substr(whole)).substr(0, whole);
  return parse_records(records);
}

// Parses records of a table; the header of CSV and TSV comes with the first records.
RowPart RowStream::parse_records(std::string_view records) {
  if (!table_) {
    if (records.empty() || (options_.format != DataFormat::kJsonl && !has_header_line(records))) return {};
    table_.emplace(records, origin_, options_.format, options_.columns, Labels::kOptional,
                   options_.dense_columns);
    records.remove_prefix(table_->header_bytes());
    lines_ = table_->header_lines();
  }
  std::uint64_t lines = 0;
  RowPart part = parse_plain_records({records, origin_}, *table_, lines_, options_, &lines);
  count_texts(part.rows.size() - part.bad.size(), part);
  if (options_.format != DataFormat::kJsonl) warn_of_encoding(records, part);
  lines_ += lines;
  return part;
}

RowPart RowStream::finish() {
  if (!open_.empty()) return parse_records(std::exchange(open_, {}));
  // lines_ counts the header.
  if (header_) check_samples(*header_, lines_ - 1 + surplus_lines_, 0, origin_);
  return {};
}

}  // namespace slide
