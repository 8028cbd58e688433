// Reads a file of any format into any sink: what read_dataset and the cache share. Safe to call from any
// thread, each with its own sink.
#pragma once

#include <cstddef>
#include <string>

#include "datasets/csr_sink.h"
#include "datasets/reader.h"
#include "datasets/text_parser.h"

namespace slide {

// Reads `path`, as read_dataset does, in chunks of about `chunk_bytes`. Where the sink saves memory, packed
// text is unpacked to an unnamed file beside `path`, and pages of text are given back once they are read.
// Throws InputError on faults of the data, Error when the sink or the unnamed file cannot be written.
CsrSizes read_into(CsrSink& sink, const std::string& path, const ReadOptions& options,
                   std::size_t chunk_bytes = kDefaultChunkBytes);

// Path of the labels of IDX images: the one that exists, packed or not. Throws InputError when the name of
// the images lacks `images-idx3`.
std::string find_idx_labels(const std::string& images_path);

}  // namespace slide
