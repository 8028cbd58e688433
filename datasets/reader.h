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

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "datasets/dataset.h"

namespace slide {

class TextModel;

enum class DataFormat { kAuto, kXmc, kLibsvm, kIdx, kText, kNpz };

struct ReadOptions {
  DataFormat format = DataFormat::kAuto;
  bool one_based = false;  // libsvm: feature ids start at 1
  bool normalize = true;   // scale each sample to unit Euclidean length (a zero sample stays zero)
  // Ids at or above are an error; 0 = what the header says, or no limit. A limit given here is also the
  // feature_count() or label_count() of the data set, so that a test set has the shape of its training set.
  std::uint32_t feature_limit = 0;
  std::uint32_t label_limit = 0;
  std::uint64_t first_line = 1;  // libsvm: the number of the first line, in messages
  int threads = 0;               // 0 = all cores
  // What text is read with; without, labelled text is an error.
  std::shared_ptr<const TextModel> text = nullptr;
};

// Reads `path`. XMC text: header `N D L`, then `l1,l2 f:v f:v`. libsvm: `l1,l2 f:v`, no header, sizes from
// the data. IDX: `path` is the images file (plain or gzip), the labels file is found beside it by replacing
// `images-idx3` with `labels-idx1`. NPZ: npz.h. Labelled text: becomes the features of options.text. Throws
// InputError naming file, line and column of the first fault.
Dataset read_dataset(const std::string& path, const ReadOptions& options = {});

// Reads samples from text already in memory (`origin` stands for the file name in messages). IDX images
// cannot be read this way, since their labels lie in a second file.
Dataset parse_dataset(std::string_view text, const std::string& origin, const ReadOptions& options = {});

}  // namespace slide
