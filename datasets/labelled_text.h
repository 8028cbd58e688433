// Text with labels, a sample a line: fastText's form (`__label__a __label__b words ...`) and tables
// (`a,b<TAB>words ...`). Learning what a model needs from such a text, and reading it into rows.
//
// Lines end in LF or CR LF; blank ones are skipped. Everything runs in parallel over chunks of whole lines,
// and neither result nor error depends on the number of threads or chunks. Learning holds the distinct
// features in memory (about 50 bytes each), never the text or the rows. Functions are safe to call from any
// thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/csr_sink.h"
#include "datasets/reader.h"
#include "datasets/text_model.h"
#include "datasets/text_parser.h"

namespace slide {

inline constexpr std::string_view kLabelPrefix = "__label__";

// The text without the byte order mark that some editors begin a file with.
std::string_view without_byte_order_mark(std::string_view text);

// The form of a text, from its first line that is not blank. Nothing when that has neither kind of labels, or
// is a line of libsvm.
std::optional<TextForm> find_text_form(std::string_view text);

// A line taken apart. Views of the line or of `scratch`; reused from line to line.
struct LabelledLine {
  std::vector<std::string_view> labels;
  std::string_view text;
  std::string scratch;
};

// Whether a line of a table must have a TAB. Without, a line is text alone.
enum class Labels { kRequired, kOptional };

// Takes `line`, without its end, apart. Throws RowFault.
void split_labelled(std::string_view line, TextForm form, Labels labels, LabelledLine& result);

// Learns vocabulary, weights and labels. Throws InputError with the first fault of the text, and when no
// label or no feature is frequent enough.
std::shared_ptr<const TextModel> learn_text(const TextSource& source, const TextOptions& options, int threads,
                                            std::size_t chunk_bytes = kDefaultChunkBytes);

// The same from the file at `path`; nullptr when that holds no labelled text, or is a pipe, which cannot be
// read twice. With `spill`, packed text is unpacked to an unnamed file beside `path`.
std::shared_ptr<const TextModel> learn_text_file(const std::string& path, DataFormat format,
                                                 const TextOptions& options, int threads, bool spill = false);

// Puts the samples of `source`, in either form, into `sink`, with the ids of `model`. Labels that it does not
// know are left out; a sample may stay without labels or features. Throws InputError.
CsrSizes parse_labelled_text(const TextSource& source, const TextModel& model, const ReadOptions& options,
                             CsrSink& sink, std::size_t chunk_bytes = kDefaultChunkBytes);

// Reads text to predict labels for: every line is a sample, blank ones too. Labels may be there and count for
// nothing: __label__NAME always, what stands before a TAB where the model's training text was a table.
Dataset parse_plain_text(std::string_view text, const TextModel& model, bool normalize, int threads);

}  // namespace slide
