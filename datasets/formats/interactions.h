// Interaction logs (implicit feedback) as data sets: one row per user, whose items are both features and
// labels, with equal ids. Masking into input and target items happens later.
//
// A user may occur on several lines, in any order; rows are in order of first occurrence. A repeated item
// counts once, with its largest weight; weight 0 is ignored. Weights are feature values. Lines end in LF or
// CR LF; blank lines and a header line (`userId,movieId,...`) are skipped. Runs in parallel over chunks of
// whole lines; results and errors do not depend on the number of threads or chunks. Functions are safe from
// any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "datasets/formats/log_users.h"
#include "datasets/rows/csr_sink.h"
#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"
#include "datasets/rows/text_options.h"
#include "datasets/rows/text_source.h"
#include "datasets/text/text_model.h"

namespace slide {

// Learns the items of a log as a model knows them: features and labels with equal names and ids, by
// decreasing number of users, ties by name; items of at least text.min_count users, at most
// text.max_features. `sources`: the parts of the log, in order; a user may occur in several. Throws
// InputError with the first malformed line, and where no item is frequent enough. options.skip_bad: malformed
// lines are skipped.
std::shared_ptr<const TextModel> learn_items(std::span<const TextSource> sources, const ReadOptions& options,
                                             const TextOptions& text,
                                             std::size_t chunk_bytes = kDefaultChunkBytes);
inline std::shared_ptr<const TextModel> learn_items(const TextSource& source, const ReadOptions& options,
                                                    const TextOptions& text,
                                                    std::size_t chunk_bytes = kDefaultChunkBytes) {
  return learn_items(std::span(&source, 1), options, text, chunk_bytes);
}
// The items of `before`, followed by new items of this log in the same order: with at least text.min_count
// users in this log, at most text.max_features in total; possibly none.
std::shared_ptr<const TextModel> learn_more_items(std::span<const TextSource> sources,
                                                  const ReadOptions& options, const TextModel& before,
                                                  const TextOptions& text,
                                                  std::size_t chunk_bytes = kDefaultChunkBytes);

// learn_items() for the files of one log, or with `before` learn_more_items(). `spill`: decompresses each
// file into an unnamed file beside it instead of memory.
std::shared_ptr<const TextModel> learn_items_of(std::span<const std::string> files,
                                                const ReadOptions& options, const TextOptions& text,
                                                bool spill, const TextModel* before = nullptr);

// Writes the users of a log to `sink`, with the ids of `items`; unknown items are ignored, and a user may be
// left without items. With options.unknown_labels, unknown items are labels, and no features, too.
// options.users (may be nullptr) receives the users of the rows. Throws InputError.
CsrSizes parse_interactions(std::span<const TextSource> sources, const TextModel& items,
                            const ReadOptions& options, CsrSink& sink,
                            std::size_t chunk_bytes = kDefaultChunkBytes);
inline CsrSizes parse_interactions(const TextSource& source, const TextModel& items,
                                   const ReadOptions& options, CsrSink& sink,
                                   std::size_t chunk_bytes = kDefaultChunkBytes) {
  return parse_interactions(std::span(&source, 1), items, options, sink, chunk_bytes);
}

}  // namespace slide
