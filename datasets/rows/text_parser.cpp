#include "datasets/rows/text_parser.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "datasets/rows/row_chunks.h"
#include "datasets/rows/row_parser.h"
#include "datasets/rows/xmc_header.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

// Length of the text up to the end of its last nonblank line.
std::size_t without_blank_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return 0;
  return std::min(text.find('\n', last), text.size() - 1) + 1;
}

std::uint64_t count_lines(std::string_view text) {
  const auto ends = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (!text.empty() && text.back() != '\n' ? 1 : 0);
}

// Throws the first error of the text, if it is before `end_line`.
void check_faults(const std::vector<RowChunk>& chunks, const std::string& origin, std::uint64_t end_line) {
  for (const RowChunk& chunk : chunks) {
    if (chunk.bad == 0) continue;
    if (chunk.faults.front().line < end_line) throw InputError(described(origin, chunk.faults.front()));
    return;
  }
}

// Reports the skipped rows.
void report_faults(const std::vector<RowChunk>& chunks, const std::string& origin, ReadReport& report) {
  std::uint64_t rows = 0;
  for (const RowChunk& chunk : chunks) {
    rows += chunk.parsed.rows;
    report.bad_rows += chunk.bad;
    for (const PlacedFault& fault : chunk.faults) report.add_shown(described(origin, fault));
  }
  if (rows == 0 && report.bad_rows > 0)
    fail_input("{}; no row of the file can be read", report.first.front());
}

void settle_faults(const std::vector<RowChunk>& chunks, const std::string& origin, std::uint64_t end_line,
                   const ReadOptions& options) {
  ReadReport report;
  options.skip_bad ? report_faults(chunks, origin, report) : check_faults(chunks, origin, end_line);
  report.unknown_features = unknown_of(chunks);
  if (options.report != nullptr) *options.report = std::move(report);
}

OnFault on_fault(const ReadOptions& options) {
  return options.skip_bad ? OnFault::kLeaveOut : OnFault::kStop;
}

// Rows may end early in blank lines, which are samples without labels and features up to the header's number.
CsrSizes parse_xmc(const TextSource& source, const ReadOptions& options, CsrSink& sink,
                   std::size_t chunk_bytes) {
  const int threads = resolve_threads(options.threads);
  const XmcHeader header = parse_xmc_header(source.text, source.origin);
  const std::string_view rows = source.text.substr(header.bytes);
  const std::size_t bytes = without_blank_end(rows);
  std::vector<RowChunk> chunks = cut_rows(source, rows.substr(0, bytes), 2, chunk_bytes, threads);
  const std::uint64_t lines = lines_of(chunks), blank_lines = count_lines(rows.substr(bytes));
  const std::uint64_t missing = header.samples > lines ? header.samples - lines : 0;
  parse_rows(source, row_syntax(options, header), on_fault(options), chunks, std::min(missing, blank_lines),
             sink, threads);
  settle_faults(chunks, source.origin, lines > header.samples ? 2 + header.samples : UINT64_MAX, options);
  check_samples(header, lines, blank_lines, source.origin);
  CsrSizes sizes = sizes_of(chunks);
  sizes.feature_count = header.features;
  sizes.label_count = header.labels;
  return sizes;
}

// Numbers of features and labels follow from the largest ids.
CsrSizes parse_libsvm(const TextSource& source, const ReadOptions& options, CsrSink& sink,
                      std::size_t chunk_bytes) {
  const int threads = resolve_threads(options.threads);
  std::vector<RowChunk> chunks = cut_rows(source, source.text, 1, chunk_bytes, threads);
  parse_rows(source, row_syntax(options), on_fault(options), chunks, 0, sink, threads);
  settle_faults(chunks, source.origin, UINT64_MAX, options);
  const bool empty = std::none_of(chunks.begin(), chunks.end(),
                                  [](const RowChunk& chunk) { return chunk.parsed.rows + chunk.bad > 0; });
  if (empty) {
    fail_input("{}:1:1: the file is empty; write a line 'label id:value ...' for each sample", source.origin);
  }
  return sizes_of(chunks);
}

}  // namespace

CsrSizes parse_text(const TextSource& source, const ReadOptions& options, CsrSink& sink,
                    std::size_t chunk_bytes) {
  if (options.format == DataFormat::kLibsvm) return parse_libsvm(source, options, sink, chunk_bytes);
  return parse_xmc(source, options, sink, chunk_bytes);
}

Dataset parse_text(std::string_view text, const std::string& origin, const ReadOptions& options,
                   std::size_t chunk_bytes) {
  MemorySink sink;
  const CsrSizes sizes = parse_text(TextSource{text, origin}, options, sink, chunk_bytes);
  return sink.take(sizes, options);
}

}  // namespace slide
