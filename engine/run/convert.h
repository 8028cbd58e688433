// Data from one format into another, file to file. Safe to call from any thread, for different outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "datasets/data_writer.h"
#include "datasets/dataset.h"
#include "datasets/read_report.h"
#include "datasets/reader.h"

namespace slide {

struct ConvertOptions {
  std::string in;
  std::string out;
  std::optional<DataFormat> from;  // none: from the content
  std::optional<FileFormat> to;    // none: from the name
  std::string model;               // text: its vocabulary; else empty
  std::string fit;                 // text: the file to learn the vocabulary from; empty: `in`
  std::vector<std::string> set;    // text: keys of [text], and of [data] those that name columns
  std::string label_names;         // files to write names to, a line each; empty: none
  std::string feature_names;
  std::uint32_t features = 0;  // sizes of the data, 0 = as they say
  std::uint32_t labels = 0;
  bool one_based = false;  // `in` is libsvm whose features count from 1
  bool skip_bad = false;   // lines of `in` with faults are left out
  int threads = 0;
  bool replace_models = false;  // a model that lies where something is written
  // Hears what the data are warned of, before anything is written; what it throws ends the conversion.
  std::function<void(const ReadReport&)> warned = {};
};

struct ConvertResult {
  std::size_t samples = 0;
  std::optional<Dataset> data;  // none where text went into text and no vocabulary was needed
  ReadReport report;            // of the reading of `in`
};

// Each file gets its name only when it is whole. Throws InputError for the input, for options that do not go
// together and for outputs that are read or the same, Error when something cannot be written.
ConvertResult convert_data(const ConvertOptions& options);

}  // namespace slide
