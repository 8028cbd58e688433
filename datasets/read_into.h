// Reads data of any format into any sink: what read_dataset and the cache share. Safe to call from any
// thread, each with its own sink.
#pragma once

#include <cstddef>
#include <string>

#include "datasets/csr_sink.h"
#include "datasets/read_options.h"
#include "datasets/text_source.h"

namespace slide {

// Reads `path`, as read_dataset does, several files (data_parts.h) one behind the other, in chunks of about
// `chunk_bytes`. Where the sink saves memory, packed text is unpacked to an unnamed file beside `path`, and
// pages of text are given back once they are read. Throws InputError on faults of the data, Error when the
// sink or the unnamed file cannot be written.
CsrSizes read_into(CsrSink& sink, const std::string& path, const ReadOptions& options,
                   std::size_t chunk_bytes = kDefaultChunkBytes);

// The same from text already in memory, as parse_dataset does.
CsrSizes read_text_into(CsrSink& sink, const TextSource& source, const ReadOptions& options);

}  // namespace slide
