// Lines of XMC or libsvm text, in chunks that threads go through on their own: what reading whole files and
// reading a stream share.
//
// Every chunk counts its lines and tokens first, which for ordinary text gives the exact sizes of the arrays;
// then every chunk is parsed straight into its place. Where the counts were wrong (merged duplicates, lines
// without labels that do not start with a blank, comments, rows left out) the chunks are parsed once more
// with the counts of the first parse. Neither the rows nor the faults depend on the number of threads or
// chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/csr_sink.h"
#include "datasets/read_report.h"
#include "datasets/row_parser.h"
#include "datasets/text_source.h"

namespace slide {

// What becomes of a row with a fault.
enum class OnFault {
  kStop,  // its chunk ends there
  kLeaveOut,
  kEmpty,  // it stays, without labels and features
};

struct RowChunk {
  std::string_view text;
  CsrCounts expected;  // room it gets in the arrays
  CsrCounts parsed;
  std::uint64_t lines = 0;
  std::uint64_t first_line = 0;   // number of its first line in the input, from 1
  std::uint64_t feature_ids = 0;  // largest id + 1
  std::uint64_t label_ids = 0;
  std::uint64_t bad = 0;               // rows with faults
  std::uint64_t unknown = 0;           // features left out
  std::vector<PlacedFault> faults;     // of the first ReadReport::kShown of them
  std::vector<std::uint64_t> emptied;  // OnFault::kEmpty: their places among the rows of the chunk
};

// Cuts `lines`, a part of the source, into chunks of about `chunk_bytes`, and counts them. Their lines are
// numbered from `first_line` on.
std::vector<RowChunk> cut_rows(const TextSource& source, std::string_view lines, std::uint64_t first_line,
                               std::size_t chunk_bytes, int threads);

// How many lines the chunks have.
std::uint64_t lines_of(const std::vector<RowChunk>& chunks);

// Parses all chunks into `sink`, `extra_rows` empty rows behind them. With OnFault::kStop and a fault, the
// sink is not filled, and the first chunk that has one tells the first fault of the text.
void parse_rows(const TextSource& source, const RowSyntax& syntax, OnFault on_fault,
                std::vector<RowChunk>& chunks, std::uint64_t extra_rows, CsrSink& sink, int threads);

// Features that were left out of all chunks.
std::uint64_t unknown_of(const std::vector<RowChunk>& chunks);

// Sizes from the ids alone.
CsrSizes sizes_of(const std::vector<RowChunk>& chunks);

}  // namespace slide
