// Parser of XMC and libsvm text, in parallel chunks of whole lines (row_chunks.h). Results and errors do not
// depend on the number of threads or chunks. Functions are safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "datasets/rows/csr_sink.h"
#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"
#include "datasets/rows/text_source.h"

namespace slide {

// Parses `source`, in format options.format (kXmc or kLibsvm), into `sink`. Chunks have about `chunk_bytes`
// bytes, at least 1. Throws InputError with the first error in text order, or where no valid row exists.
CsrSizes parse_text(const TextSource& source, const ReadOptions& options, CsrSink& sink,
                    std::size_t chunk_bytes = kDefaultChunkBytes);

// The same into memory.
Dataset parse_text(std::string_view text, const std::string& origin, const ReadOptions& options,
                   std::size_t chunk_bytes = kDefaultChunkBytes);

}  // namespace slide
