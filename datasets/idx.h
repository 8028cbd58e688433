// Reads IDX images (the format of MNIST) with their labels.
#pragma once

#include <string>
#include <string_view>

#include "datasets/csr_sink.h"
#include "datasets/file_bytes.h"
#include "datasets/read_options.h"

namespace slide {

// Whether the bytes start like a file of IDX images of unsigned bytes.
bool is_idx_images(std::string_view bytes);

// Path of the labels beside the images at `path`: the one that exists, packed or not. Throws InputError when
// the name of the images lacks `images-idx3`.
std::string idx_labels_path(const std::string& path);

// Puts images (rows x columns features, pixel / 255, zero pixels left out) with their labels (one each) into
// `sink`. Where `labels` has no path, all get label 0. Throws InputError on a wrong magic number or size.
CsrSizes parse_idx(const NamedBytes& images, const NamedBytes& labels, const ReadOptions& options,
                   CsrSink& sink);

}  // namespace slide
