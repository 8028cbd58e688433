// Reads IDX images (the format of MNIST) with their labels.
#pragma once

#include <string>
#include <string_view>

#include "datasets/dataset.h"
#include "datasets/reader.h"

namespace slide {

// Whether the bytes start like a file of IDX images of unsigned bytes.
bool is_idx_images(std::string_view bytes);

// Path of the labels beside the images at `path`. Throws InputError when the name lacks `images-idx3`.
std::string idx_labels_path(const std::string& path);

// Builds a data set from unpacked images (rows x columns features, pixel / 255, zero pixels left out) and
// labels (one each). The paths are for messages. Throws InputError on a wrong magic number or size.
Dataset parse_idx(std::string_view images, const std::string& images_path, std::string_view labels,
                  const std::string& labels_path, const ReadOptions& options);

}  // namespace slide
