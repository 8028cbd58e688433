// Helpers of the data set tests: temporary folders, small files, expected error messages.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/formats/label_lists.h"
#include "datasets/rows/dataset.h"
#include "tests/expect.h"
#include "tests/files.h"
#include "tests/sanitizers.h"

namespace slide {

// Limits this process to `bytes` of address space beyond its current use.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(std::size_t bytes) {
    getrlimit(RLIMIT_AS, &before_);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit limit = {pages * static_cast<std::size_t>(getpagesize()) + bytes, before_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
  }
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before_); }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;

 private:
  rlimit before_{};
};

inline std::string gzip(std::string_view content) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, content.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string zstd(std::string_view content) {
  std::string packed(ZSTD_compressBound(content.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), content.data(), content.size(), 3));
  return packed;
}

// `labels|id:value id:value` for each sample, for comparisons in one line.
inline std::vector<std::string> show(const Dataset& data) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::string row;
    for (const std::uint32_t label : data.labels(i)) {
      fmt::format_to(std::back_inserter(row), "{}{}", row.empty() ? "" : ",", label);
    }
    row += '|';
    const SparseRow features = data.features(i);
    for (std::size_t j = 0; j < features.ids.size(); ++j) {
      const char* gap = j > 0 ? " " : "";
      fmt::format_to(std::back_inserter(row), "{}{}:{}", gap, features.ids[j], features.values[j]);
    }
    rows.push_back(row);
  }
  return rows;
}

using Rows = std::vector<std::string>;

// The number of labels, then the labels of each sample.
inline Rows rows_of(const LabelLists& lists) {
  Rows rows = {std::to_string(lists.count)};
  for (std::size_t i = 0; i + 1 < lists.offsets.size(); ++i) {
    std::string row;
    for (std::size_t at = lists.offsets[i]; at < lists.offsets[i + 1]; ++at)
      row += (row.empty() ? "" : ",") + std::to_string(lists.ids[at]);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace slide
