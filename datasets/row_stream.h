// Samples to predict labels for, from text that comes in parts of whole lines: a pipe, or a file as one part.
// Every line is a sample, blank ones too, but for the header of XMC text and the comments of libsvm. Of CSV
// and TSV every record behind the names of the columns is.
//
// Lines keep their numbers from part to part, and memory does not grow with them. For one thread; parts are
// parsed in parallel. Neither rows nor faults depend on how the lines are parted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/read_options.h"
#include "datasets/row_part.h"
#include "datasets/table.h"
#include "datasets/xmc_header.h"

namespace slide {

class RowStream {
 public:
  // options.format: kXmc, kLibsvm, or kText or a table with options.text. `origin` stands for the file in
  // messages.
  RowStream(std::string origin, const ReadOptions& options);

  // The rows of the next lines, of which only the last in all may lack its end. XMC: those beyond what the
  // header says are counted only. Throws InputError for a header that is none.
  RowPart read(std::string_view lines);

  // After the last line: a record whose quotes stay open, else no rows. Throws InputError where there are
  // more or fewer samples than an XMC header says.
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
  std::string open_;  // what came of a record whose quotes are open, or before the names of the columns
  std::uint64_t lines_ = 0;  // taken so far, with the header
  std::uint64_t surplus_lines_ =
      0;                           // behind those that the header promises, up to the last that is not blank
  std::uint64_t blank_lines_ = 0;  // behind these
};

}  // namespace slide
