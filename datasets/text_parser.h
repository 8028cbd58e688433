// Parses XMC and libsvm text into a data set, in parallel chunks of whole lines (row_chunks.h). Neither the
// result nor the error reported depends on the number of threads or chunks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "datasets/csr_sink.h"
#include "datasets/dataset.h"
#include "datasets/read_options.h"
#include "datasets/text_source.h"

namespace slide {

// Parses `source`, whose format is options.format (kXmc or kLibsvm), into `sink`. Chunks have about
// `chunk_bytes`, at least 1. Throws InputError with the first fault in the order of the text, or that there
// is no row without one.
CsrSizes parse_text(const TextSource& source, const ReadOptions& options, CsrSink& sink,
                    std::size_t chunk_bytes = kDefaultChunkBytes);

// The same into memory.
Dataset parse_text(std::string_view text, const std::string& origin, const ReadOptions& options,
                   std::size_t chunk_bytes = kDefaultChunkBytes);

}  // namespace slide
