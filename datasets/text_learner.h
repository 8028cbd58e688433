// Learns a text model (vocabulary, feature weights, labels) from labelled text.
//
// Runs in parallel over chunks of whole lines; results and errors do not depend on the number of threads or
// chunks. Memory: about 50 bytes for each distinct feature; rows are not kept. Safe from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "datasets/rows/read_options.h"
#include "datasets/rows/text_source.h"
#include "datasets/sidecar/label_texts.h"
#include "datasets/text/table.h"
#include "datasets/text/text_model.h"
#include "datasets/text/text_samples.h"

namespace slide {

// How to read a text to learn from.
struct LearnRules {
  bool skip_bad = false;              // skip malformed lines
  const Table* table = nullptr;       // of the text; nullptr: it is labelled lines
  std::string label_separator = ",";  // of labelled lines
};
// Throws InputError with the first malformed line, and where no label or no feature is frequent enough.
std::shared_ptr<const TextModel> learn_text(const TextSource& source, const TextOptions& options, int threads,
                                            std::size_t chunk_bytes = kDefaultChunkBytes,
                                            const LearnRules& rules = {});

// The same from the file `path`, by format, columns, threads and skip_bad of `read`; of an interaction log it
// learns the items (learn_items()). Returns nullptr where the file is none of labelled text, table and log,
// or is a pipe, which cannot be read twice. `spill`: decompresses into an unnamed file beside `path`. Several
// files (data_parts.h) form one text, each with its own header. `label_texts` (may be nullptr) count as
// additional samples; their labels need not be frequent. Also throws InputError where a named column is
// missing.
std::shared_ptr<const TextModel> learn_text_file(const std::string& path, const ReadOptions& read,
                                                 const TextOptions& options, bool spill = false,
                                                 const LabelTexts* label_texts = nullptr);

// Incremental learning: extends `before` by the file `path`, which is labelled text, a table, or a log where
// `before` has items (learn_more_items()). New words and n-grams follow the vocabulary, before the hash
// buckets; new labels follow the labels. `options` says how frequent both must be in this text; its other
// options must equal the options of `before`. Feature weights use frequencies in all samples so far;
// frequencies in earlier samples are recovered from the weights of `before`. Throws InputError as
// learn_text_file(), but not where nothing new is frequent enough.
std::shared_ptr<const TextModel> learn_more_text_file(const std::string& path, const ReadOptions& read,
                                                      const TextModel& before, const TextOptions& options,
                                                      bool spill = false,
                                                      const LabelTexts* label_texts = nullptr);

// Whether learn_text_file() would learn from this file. Throws InputError as there.
bool holds_text(const std::string& path, const ReadOptions& read);

// `before` without the labels with dropped[label]; `dropped` has an entry for each label.
std::shared_ptr<const TextModel> without_labels(const TextModel& before, const std::vector<bool>& dropped);

// kByFrequency: labels that are frequent enough, by decreasing frequency. kAsGiven: all labels of the
// TextSamples, with their ids.
enum class LabelIds { kByFrequency, kAsGiven };

// The same for texts in memory. Throws InputError as above.
std::shared_ptr<const TextModel> learn_texts(const TextSamples& samples, LabelIds label_ids,
                                             const TextOptions& options, int threads);

// Incremental learning from texts in memory, with the options of `before`. `samples` must begin with the
// labels of `before`, in their order, or this throws InputError; the others follow with their ids, however
// rare.
std::shared_ptr<const TextModel> learn_more_texts(const TextSamples& samples, const TextModel& before,
                                                  int threads);

}  // namespace slide
