// Learns from a text with labels what its samples are made of: vocabulary, weights and labels.
//
// Runs in parallel over chunks of whole lines; neither result nor error depends on the number of threads or
// chunks. Holds the distinct features in memory (about 50 bytes each), never the text or the rows. Functions
// are safe to call from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "datasets/label_texts.h"
#include "datasets/read_options.h"
#include "datasets/table.h"
#include "datasets/text_model.h"
#include "datasets/text_samples.h"
#include "datasets/text_source.h"

namespace slide {

// Throws InputError with the first fault of the text, and when no label or no feature is frequent enough.
struct LearnRules {
  bool skip_bad = false;              // lines with faults teach nothing
  const Table* table = nullptr;       // the source is this
  std::string label_separator = ",";  // else
};
std::shared_ptr<const TextModel> learn_text(const TextSource& source, const TextOptions& options, int threads,
                                            std::size_t chunk_bytes = kDefaultChunkBytes,
                                            const LearnRules& rules = {});

// The same from the file at `path`, whose format, columns, threads and bad lines are as in `read`; nullptr
// when that holds no labelled text and is no table, or is a pipe, which cannot be read twice. With `spill`,
// packed text is unpacked to an unnamed file beside `path`. Several files (data_parts.h) are one text, each
// with its own lines and, if they are tables, columns. Also throws InputError where columns are named
// and the file does not have them. What labels are said to be, unless that is nullptr, counts as so many
// samples more, and labels that it names are labels however few samples they have.
std::shared_ptr<const TextModel> learn_text_file(const std::string& path, const ReadOptions& read,
                                                 const TextOptions& options, bool spill = false,
                                                 const LabelTexts* label_texts = nullptr);

// What `before` knows and what the file at `path` adds to it, which must hold labelled text or be a table, or
// a log where `before` has items (see learn_more_items()):
// new words and n-grams stand behind those of the vocabulary, before the buckets, new labels behind the
// others. Of both, those that are frequent enough in this text, by `options`, whose other values are those of
// `before`. Features are weighted by all samples so far, as far as their weights tell how many had them.
// Throws InputError as above, but not for a text in which nothing is frequent enough.
std::shared_ptr<const TextModel> learn_more_text_file(const std::string& path, const ReadOptions& read,
                                                      const TextModel& before, const TextOptions& options,
                                                      bool spill = false,
                                                      const LabelTexts* label_texts = nullptr);

// Whether learn_text_file() would learn from this file. Throws InputError as there.
bool holds_text(const std::string& path, const ReadOptions& read);

// `before` without the labels for which `gone` is true; it has one entry for each.
std::shared_ptr<const TextModel> without_labels(const TextModel& before, const std::vector<bool>& gone);

// Which ids labels get: by falling frequency, those that are frequent enough, or all of TextSamples, as
// there.
enum class LabelIds { kByFrequency, kAsGiven };

// The same from memory. Throws InputError as above.
std::shared_ptr<const TextModel> learn_texts(const TextSamples& samples, LabelIds label_ids,
                                             const TextOptions& options, int threads);

}  // namespace slide
