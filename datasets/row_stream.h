// Streaming reader of samples for prediction: text in parts of whole lines, from a pipe or a file. Every line
// is a sample, also blank ones, except the header of XMC text and comments of libsvm; in CSV and TSV, every
// record after the header.
//
// Line numbers continue across parts; memory is constant. One thread; each part is parsed in parallel. Rows
// and errors do not depend on the division into parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/rows/read_options.h"
#include "datasets/rows/row_part.h"
#include "datasets/rows/xmc_header.h"
#include "datasets/text/table.h"

namespace slide {

class RowStream {
 public:
  // options.format: kXmc, kLibsvm, or with options.text kText or a table. `origin` replaces the file name in
  // messages.
  RowStream(std::string origin, const ReadOptions& options);

  // Rows of the next lines; only the very last line may lack its end. XMC: lines beyond the number in the
  // header are only counted. Throws InputError for an invalid header.
  RowPart read(std::string_view lines);

  // Call after the last line. Returns a record with unclosed quotes, if any, else no rows. Throws InputError
  // where the number of samples differs from the XMC header.
  RowPart finish();

 private:
  RowPart read_text(std::string_view lines);
  void warn_of_encoding(std::string_view lines, RowPart& part);
  RowPart read_records(std::string_view lines);
  RowPart parse_records(std::string_view records);
  RowPart read_rows(std::string_view lines);
  std::string_view take_promised(std::string_view lines);

  std::string origin_;
  ReadOptions options_;
  std::optional<XmcHeader> header_;
  RowSyntax syntax_;
  bool begun_ = false;
  bool warned_ = false;  // that the text is not UTF-8
  std::optional<Table> table_;
  std::string open_;                 // start of a record with unclosed quotes, or text before the header
  std::uint64_t lines_ = 0;          // so far, header included
  std::uint64_t surplus_lines_ = 0;  // lines beyond the header's number, up to the last nonblank one
  std::uint64_t blank_lines_ = 0;    // blank lines after the last nonblank one
};

}  // namespace slide
