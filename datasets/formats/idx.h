// Reader of IDX images (the format of MNIST) with their labels.
#pragma once

#include <string>
#include <string_view>

#include "datasets/rows/csr_sink.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/read_options.h"

namespace slide {

// Whether the bytes begin like IDX images of unsigned bytes.
bool is_idx_images(std::string_view bytes);

// Path of the labels beside the images at `path`: the existing one, compressed or not. Throws InputError
// where the name of the images lacks `images-idx3`.
std::string idx_labels_path(const std::string& path);

// Writes images (rows x columns features, pixel / 255, without zero pixels) with one label each to `sink`.
// Without a labels path, all labels are 0. Throws InputError for a wrong magic number or size.
CsrSizes parse_idx(const NamedBytes& images, const NamedBytes& labels, const ReadOptions& options,
                   CsrSink& sink);

}  // namespace slide
