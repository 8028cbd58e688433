// Reads data of any format into any sink; shared by read_dataset() and the cache. Safe from any thread, with
// separate sinks.
#pragma once

#include <cstddef>
#include <string>

#include "datasets/rows/csr_sink.h"
#include "datasets/rows/read_options.h"
#include "datasets/rows/text_source.h"

namespace slide {

// Reads `path` as read_dataset(), several files (data_parts.h) consecutively, in chunks of about
// `chunk_bytes` bytes. For memory-saving sinks, compressed text is decompressed into an unnamed file beside
// `path`, and pages are released after parsing. Throws InputError for malformed data, Error where the sink or
// the unnamed file cannot be written.
CsrSizes read_into(CsrSink& sink, const std::string& path, const ReadOptions& options,
                   std::size_t chunk_bytes = kDefaultChunkBytes);

// The same for text in memory, as parse_dataset().
CsrSizes read_text_into(CsrSink& sink, const TextSource& source, const ReadOptions& options);

}  // namespace slide
