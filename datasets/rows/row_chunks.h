// Chunked parallel parser of XMC and libsvm lines; shared by the readers of files and streams.
//
// Each chunk first counts its lines and tokens, which for ordinary text gives exact array sizes; then each
// chunk is parsed directly to its position. Where counts were wrong (merged duplicates, unlabelled lines that
// do not start with a blank, comments, skipped rows), chunks are parsed again with the counts of the first
// parse. Rows and errors do not depend on the number of threads or chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/rows/csr_sink.h"
#include "datasets/rows/read_report.h"
#include "datasets/rows/row_parser.h"
#include "datasets/rows/text_source.h"

namespace slide {

// Handling of malformed rows.
enum class OnFault {
  kStop,  // stops its chunk
  kLeaveOut,
  kEmpty,  // keeps an empty row
};

struct RowChunk {
  std::string_view text;
  CsrCounts expected;  // its space in the arrays
  CsrCounts parsed;
  std::uint64_t lines = 0;
  std::uint64_t first_line = 0;   // line number in the input, from 1
  std::uint64_t feature_ids = 0;  // largest id + 1
  std::uint64_t label_ids = 0;
  std::uint64_t bad = 0;               // malformed rows
  std::uint64_t unknown = 0;           // features left out
  std::vector<PlacedFault> faults;     // the first ReadReport::kShown of them
  std::vector<std::uint64_t> emptied;  // OnFault::kEmpty: their indices within the chunk
};

// Cuts `lines`, a part of the source, into chunks of about `chunk_bytes` bytes and counts them. Line numbers
// start at `first_line`.
std::vector<RowChunk> cut_rows(const TextSource& source, std::string_view lines, std::uint64_t first_line,
                               std::size_t chunk_bytes, int threads);

// Total number of lines of the chunks.
std::uint64_t lines_of(const std::vector<RowChunk>& chunks);

// Parses all chunks into `sink`, followed by `extra_rows` empty rows. With OnFault::kStop and an error, the
// sink is not filled, and the first chunk with an error holds the first error of the text.
void parse_rows(const TextSource& source, const RowSyntax& syntax, OnFault on_fault,
                std::vector<RowChunk>& chunks, std::uint64_t extra_rows, CsrSink& sink, int threads);

// Features that were left out of all chunks.
std::uint64_t unknown_of(const std::vector<RowChunk>& chunks);

// Sizes from the ids.
CsrSizes sizes_of(const std::vector<RowChunk>& chunks);

}  // namespace slide
