// Labelled text, one sample per line: fastText's form (`__label__a __label__b words ...`) and tab-separated
// (`a,b<TAB>words ...`), converted to rows with a learnt vocabulary (text_learner.h).
//
// Lines end in LF or CR LF; blank lines are skipped. Runs in parallel over chunks of whole lines; results and
// errors do not depend on the number of threads or chunks. Functions are safe from any thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "datasets/rows/csr_sink.h"
#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"
#include "datasets/rows/read_report.h"
#include "datasets/rows/row_part.h"
#include "datasets/rows/text_source.h"
#include "datasets/text/table.h"
#include "datasets/text/text_model.h"
#include "datasets/text/text_samples.h"

namespace slide {

// Writes the samples of `source`, text or a table according to options.format, to `sink` with the ids of
// `model`. Unknown labels are ignored; a sample may be left without labels or features. Throws InputError.
CsrSizes parse_labelled_text(const TextSource& source, const TextModel& model, const ReadOptions& options,
                             CsrSink& sink, std::size_t chunk_bytes = kDefaultChunkBytes);

// The same for samples in memory; each text is one sample. `report`, if any, gets what the model does not
// know.
Dataset parse_texts(const TextSamples& samples, const TextModel& model, bool normalize, int threads,
                    ReadReport* report = nullptr);

// Reads text for prediction: every line is a sample, also blank ones; labels are ignored (split_plain).
Dataset parse_plain_text(std::string_view text, const TextModel& model, bool normalize, int threads);

// The same for records of a table, after its header and `lines_before` lines of the file: every record is a
// sample, also malformed ones. Sets `lines` to their number of lines. Uses options.text.
RowPart parse_plain_records(const TextSource& records, const Table& table, std::uint64_t lines_before,
                            const ReadOptions& options, std::uint64_t* lines);

}  // namespace slide
