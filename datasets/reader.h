// Reads data files into a Dataset. Detects the format from the content unless given; decompresses any format.
// Parallel; data and reported error do not depend on the number of threads. Functions are safe from any
// thread.
//
// XMC and libsvm text: blanks are spaces and tabs, lines may end in CR LF, and the last line may lack its
// end. Features may be unordered (they are sorted), a lone `f` means `f:1`, values of repeated features are
// summed, and repeated labels merged. A line that starts with a blank, or whose first token has a colon, has
// no labels. XMC: a blank line among the samples is a sample without labels and features; blank lines beyond
// the N samples of the header are ignored. libsvm: blank lines are skipped, `#` starts a comment, labels may
// be written `+3` or `3.0`. Labelled text: labelled_text.h.
#pragma once

#include <string>
#include <string_view>

#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"

namespace slide {

// Reads `path`. XMC text: header `N D L`, then `l1,l2 f:v f:v`. libsvm: `l1,l2 f:v`, no header, sizes from
// the data. IDX: `path` is the images file, and the labels file is found beside it by replacing `images-idx3`
// with `labels-idx1`. NPZ: npz.h. Dense features: dense_data.h. Labelled text: converted with options.text.
// Several files or a pattern (data_parts.h): each is read separately, all in one format, and rows are
// concatenated; feature and label counts are the maxima. Interaction logs: all files are one log. Throws
// InputError with file, line and column of the first error.
Dataset read_dataset(const std::string& path, const ReadOptions& options = {});

// Reads samples from text in memory (`origin` replaces the file name in messages). Not for IDX images, whose
// labels are in a second file.
Dataset parse_dataset(std::string_view text, const std::string& origin, const ReadOptions& options = {});

// Samples of IDX images or an .npz matrix (options.format) in memory, without labels, for prediction.
Dataset parse_features(std::string_view bytes, const std::string& origin, const ReadOptions& options);

}  // namespace slide
