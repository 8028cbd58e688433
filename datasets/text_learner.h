// Learns from a text with labels what its samples are made of: vocabulary, weights and labels.
//
// Runs in parallel over chunks of whole lines; neither result nor error depends on the number of threads or
// chunks. Holds the distinct features in memory (about 50 bytes each), never the text or the rows. Functions
// are safe to call from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "datasets/read_options.h"
#include "datasets/table.h"
#include "datasets/text_model.h"
#include "datasets/text_samples.h"
#include "datasets/text_source.h"

namespace slide {

// Throws InputError with the first fault of the text, and when no label or no feature is frequent enough.
// With `skip_bad`, lines with faults teach nothing.
// With `table`, `source` is that table.
std::shared_ptr<const TextModel> learn_text(const TextSource& source, const TextOptions& options, int threads,
                                            std::size_t chunk_bytes = kDefaultChunkBytes,
                                            bool skip_bad = false, const Table* table = nullptr);

// The same from the file at `path`, whose format, columns, threads and bad lines are as in `read`; nullptr
// when that holds no labelled text and is no table, or is a pipe, which cannot be read twice. With `spill`,
// packed text is unpacked to an unnamed file beside `path`. Also throws InputError where columns are named
// and the file does not have them.
std::shared_ptr<const TextModel> learn_text_file(const std::string& path, const ReadOptions& read,
                                                 const TextOptions& options, bool spill = false);

// Which ids labels get: by falling frequency, those that are frequent enough, or all of TextSamples, as
// there.
enum class LabelIds { kByFrequency, kAsGiven };

// The same from memory. Throws InputError as above.
std::shared_ptr<const TextModel> learn_texts(const TextSamples& samples, LabelIds label_ids,
                                             const TextOptions& options, int threads);

}  // namespace slide
