// Conversion of data files between formats. Safe from any thread, for different outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "datasets/data_writer.h"
#include "datasets/reader.h"
#include "datasets/rows/dataset.h"
#include "datasets/rows/read_report.h"

namespace slide {

struct ConvertOptions {
  std::string in;
  std::string out;
  std::optional<DataFormat> from;  // none: by the content
  std::optional<FileFormat> to;    // none: by the name
  std::string model;               // text: model with the vocabulary; else empty
  std::string fit;                 // text: file to learn the vocabulary from; empty: `in`
  std::vector<std::string> set;    // text: overrides of [text] keys, and of the [data] keys that name columns
  std::string label_names;         // output file for names, one per line; empty: none
  std::string feature_names;
  std::uint32_t features = 0;  // sizes of the data; 0: from the data
  std::uint32_t labels = 0;
  bool one_based = false;  // `in` is libsvm with feature ids from 1
  bool skip_bad = false;   // skip malformed rows of `in`
  int threads = 0;
  bool replace_models = false;  // a model that lies where something is written
  // Called with the warnings of the data before anything is written; its exceptions end the conversion.
  std::function<void(const ReadReport&)> warned = {};
};

struct ConvertResult {
  std::size_t samples = 0;
  std::optional<Dataset> data;  // none where text was converted to text without a vocabulary
  ReadReport report;            // from reading `in`
};

// Writes each output atomically. Throws InputError for invalid input, contradictory options, and outputs that
// are inputs or equal; Error where an output cannot be written.
ConvertResult convert_data(const ConvertOptions& options);

}  // namespace slide
