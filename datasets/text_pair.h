// Pairs of text files, as the Extreme Classification Repository gives its newer sets: features in
// trn_X_Xf.txt, labels in trn_X_Y.txt, a line a sample in both. Functions are safe to call from any thread,
// on different files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "datasets/csr_sink.h"
#include "datasets/read_options.h"

namespace slide {

struct TextPair {
  std::string features;
  std::string labels;
};

// `FEATURES,LABELS` names both, of which FEATURES is there; it may be any text of sparse features, LABELS all
// that read_labels() takes.
std::optional<TextPair> named_text_pair(const std::string& path);

// The same, or `A_Xf.txt` alone, a file that begins with `samples features`, whose labels lie beside it in
// `A_Y.txt`.
std::optional<TextPair> text_pair(const std::string& path);

// Puts the rows into `sink`. options.skip_bad does not hold here, as lines of the two files would no longer
// belong together. Throws InputError with the place of the first fault, or when the two are not of the same
// number of samples.
CsrSizes read_text_pair(const TextPair& pair, const ReadOptions& options, CsrSink& sink,
                        std::size_t chunk_bytes);

}  // namespace slide
