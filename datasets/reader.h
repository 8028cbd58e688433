// Reads data files into a Dataset. The format is found from the content unless named; gzip is unpacked
// whatever the format. Reading is parallel, and neither the data nor the error reported depends on the number
// of threads. All functions are safe to call from any thread.
//
// Text, both formats: blanks are spaces and tabs, a line may end in CR LF, and the last one may lack its end.
// Features may come in any order (they are sorted), a lone `f` means `f:1`, values of a feature named twice
// in a sample are summed and repeated labels merged. A line that starts with a blank, or whose first token
// has a colon, carries no labels. XMC: a blank line among the samples is a sample without labels and
// features; blank lines beyond the N samples of the header are ignored. libsvm: blank and comment lines are
// skipped, `#` starts a comment, labels may be written `+3` or `3.0`. Labelled text: labelled_text.h.
#pragma once

#include <string>
#include <string_view>

#include "datasets/dataset.h"
#include "datasets/read_options.h"

namespace slide {

// Reads `path`. XMC text: header `N D L`, then `l1,l2 f:v f:v`. libsvm: `l1,l2 f:v`, no header, sizes from
// the data. IDX: `path` is the images file (plain or gzip), the labels file is found beside it by replacing
// `images-idx3` with `labels-idx1`. NPZ: npz.h. Dense features: dense_data.h. Labelled text: becomes the
// features of options.text. Several files, or a pattern that matches some: data_parts.h; each is read as a
// file of its own, all in one format, and their rows are joined: as many features and labels as the largest
// has. Of a log of interactions they are one text. Throws InputError naming file, line and column of the
// first fault.
Dataset read_dataset(const std::string& path, const ReadOptions& options = {});

// Reads samples from text already in memory (`origin` stands for the file name in messages). IDX images
// cannot be read this way, since their labels lie in a second file.
Dataset parse_dataset(std::string_view text, const std::string& origin, const ReadOptions& options = {});

// The samples of IDX images or of an .npz matrix, as options.format says, already in memory and without their
// labels: to predict these.
Dataset parse_features(std::string_view bytes, const std::string& origin, const ReadOptions& options);

}  // namespace slide
