// Pairs of text files, as in newer sets of the Extreme Classification Repository: features in trn_X_Xf.txt,
// labels in trn_X_Y.txt, one line per sample in both. Functions are safe from any thread, for different
// files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "datasets/rows/csr_sink.h"
#include "datasets/rows/read_options.h"

namespace slide {

struct TextPair {
  std::string features;
  std::string labels;
};

// Parses `FEATURES,LABELS`, where the file FEATURES exists; FEATURES is text with sparse features, LABELS as
// for read_labels().
std::optional<TextPair> named_text_pair(const std::string& path);

// The same, or a lone `A_Xf.txt` that begins with `samples features`, with its labels in `A_Y.txt` beside it.
std::optional<TextPair> text_pair(const std::string& path);

// Writes the rows to `sink`. Ignores options.skip_bad, since lines of the two files would no longer match.
// Throws InputError with the position of the first error, and where the numbers of samples differ.
CsrSizes read_text_pair(const TextPair& pair, const ReadOptions& options, CsrSink& sink,
                        std::size_t chunk_bytes);

}  // namespace slide
