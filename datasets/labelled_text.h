// Text with labels, a sample a line: fastText's form (`__label__a __label__b words ...`) and tables
// (`a,b<TAB>words ...`), read into rows with what was learnt from such a text (text_learner.h).
//
// Lines end in LF or CR LF; blank ones are skipped. Runs in parallel over chunks of whole lines, and neither
// result nor error depends on the number of threads or chunks. Functions are safe to call from any thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "datasets/csr_sink.h"
#include "datasets/dataset.h"
#include "datasets/read_options.h"
#include "datasets/row_part.h"
#include "datasets/table.h"
#include "datasets/text_model.h"
#include "datasets/text_samples.h"
#include "datasets/text_source.h"

namespace slide {

// Puts the samples of `source`, in either form or a table as options.format says, into `sink`, with the ids
// of `model`. Labels that it does not know are left out; a sample may stay without labels or features. Throws
// InputError.
CsrSizes parse_labelled_text(const TextSource& source, const TextModel& model, const ReadOptions& options,
                             CsrSink& sink, std::size_t chunk_bytes = kDefaultChunkBytes);

// The same of samples in memory, each of which is one, whatever it holds.
Dataset parse_texts(const TextSamples& samples, const TextModel& model, bool normalize, int threads);

// Reads text to predict labels for: every line is a sample, blank ones too. Labels may be there and count for
// nothing (split_plain).
Dataset parse_plain_text(std::string_view text, const TextModel& model, bool normalize, int threads);

// The same of records of a table, behind its head and so many lines of the file: each is a sample, those with
// faults, too. `lines` becomes how many lines they have. Reads by options.text.
RowPart parse_plain_records(const TextSource& records, const Table& table, std::uint64_t lines_before,
                            const ReadOptions& options, std::uint64_t* lines);

}  // namespace slide
