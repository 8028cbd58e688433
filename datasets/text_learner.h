// Learns a text model (vocabulary, feature weights, labels) from labelled text.
//
// Runs in parallel over chunks of whole lines; results and errors do not depend on the number of threads or
// chunks. Memory: about 50 bytes per distinct feature; neither text nor rows are held. Functions are safe
// from any thread.
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

// Throws InputError with the first fault of the text, and when no label or no feature is frequent enough.
struct LearnRules {
  bool skip_bad = false;              // lines with faults teach nothing
  const Table* table = nullptr;       // the source is this
  std::string label_separator = ",";  // else
};
std::shared_ptr<const TextModel> learn_text(const TextSource& source, const TextOptions& options, int threads,
                                            std::size_t chunk_bytes = kDefaultChunkBytes,
                                            const LearnRules& rules = {});

// The same for the file `path`, with format, columns, threads and skip_bad of `read`; nullptr where it is
// neither labelled text nor a table, or is a pipe, which cannot be read twice. `spill`: decompresses into an
// unnamed file beside `path`. Several files (data_parts.h) form one text, each with its own lines and
// columns. Throws InputError also where named columns are missing. `label_texts` (may be nullptr) count as
// additional samples, and their labels are kept independent of frequency.
std::shared_ptr<const TextModel> learn_text_file(const std::string& path, const ReadOptions& read,
                                                 const TextOptions& options, bool spill = false,
                                                 const LabelTexts* label_texts = nullptr);

// Incremental learning: extends `before` by the file `path`, labelled text or a table, or a log where
// `before` has items (learn_more_items()). New words and n-grams follow the vocabulary, before the buckets;
// new labels follow the labels. Both must be frequent enough in this text, by `options`; other options must
// equal those of `before`. Feature weights use all samples so far, as far as the weights of `before` reveal
// their frequencies. Throws InputError as above, but not where nothing new is frequent enough.
std::shared_ptr<const TextModel> learn_more_text_file(const std::string& path, const ReadOptions& read,
                                                      const TextModel& before, const TextOptions& options,
                                                      bool spill = false,
                                                      const LabelTexts* label_texts = nullptr);

// Whether learn_text_file() would learn from this file. Throws InputError as there.
bool holds_text(const std::string& path, const ReadOptions& read);

// `before` without the labels with gone[label]; `gone` has one entry per label.
std::shared_ptr<const TextModel> without_labels(const TextModel& before, const std::vector<bool>& gone);

// Label ids: sufficiently frequent labels by decreasing frequency; or all labels of TextSamples with their
// ids.
enum class LabelIds { kByFrequency, kAsGiven };

// The same for texts in memory. Throws InputError as above.
std::shared_ptr<const TextModel> learn_texts(const TextSamples& samples, LabelIds label_ids,
                                             const TextOptions& options, int threads);

// Incremental learning from texts in memory, with the options of `before`. The first labels of `samples` are
// those of `before`, in their order; the others follow with their ids, however rare. Throws InputError where
// they are not.
std::shared_ptr<const TextModel> learn_more_texts(const TextSamples& samples, const TextModel& before,
                                                  int threads);

}  // namespace slide
