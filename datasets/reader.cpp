#include "datasets/reader.h"

#include "datasets/formats/dense_data.h"
#include "datasets/formats/idx.h"
#include "datasets/formats/npz.h"
#include "datasets/read_into.h"
#include "datasets/rows/csr_sink.h"
#include "datasets/rows/data_parts.h"

namespace slide {

// Dense features have a reader of their own, which calls this one for the samples beside them.
Dataset read_dataset(const std::string& path, const ReadOptions& options) {
  if (const auto parts = parts_of(path); parts.size() == 1 && parts.front() != path)
    return read_dataset(parts.front(), options);
  if (const auto dense = dense_paths(path)) return read_dense_data(*dense, options, read_dataset);
  if (options.columns.dense.empty()) require_no_dense(path, options);
  MemorySink sink;
  const CsrSizes sizes = read_into(sink, path, options);
  if (sizes.dense_columns == 0) require_no_dense(path, options);
  return sink.take(sizes, options);
}

Dataset parse_dataset(std::string_view text, const std::string& origin, const ReadOptions& options) {
  MemorySink sink;
  const CsrSizes sizes = read_text_into(sink, TextSource{text, origin}, options);
  return sink.take(sizes, options);
}

Dataset parse_features(std::string_view bytes, const std::string& origin, const ReadOptions& options) {
  MemorySink sink;
  const NamedBytes features = {bytes, origin}, no_labels = {};
  const CsrSizes sizes = options.format == DataFormat::kIdx ? parse_idx(features, no_labels, options, sink)
                                                            : parse_npz(features, no_labels, options, sink);
  return sink.take(sizes, options);
}

}  // namespace slide
