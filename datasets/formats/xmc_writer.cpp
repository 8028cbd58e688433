#include "datasets/formats/xmc_writer.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <iterator>

namespace slide {

namespace {
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
}

void append_xmc_row(std::string& text, std::span<const std::uint32_t> labels, const SparseRow& features) {
  auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i > 0) text += ',';
    fmt::format_to(out, FMT_COMPILE("{}"), labels[i]);
  }
  for (std::size_t i = 0; i < features.ids.size(); ++i) {
    fmt::format_to(out, FMT_COMPILE(" {}:{}"), features.ids[i], features.values[i]);
  }
  text += '\n';
}

XmcWriter::XmcWriter(const std::string& path, std::uint64_t samples, std::uint32_t feature_count,
                     std::uint32_t label_count)
    : file_(path) {
  write(fmt::format("{} {} {}\n", samples, feature_count, label_count));
}

void write_xmc(const Dataset& data, const std::string& path) {
  XmcWriter writer(path, data.size(), data.feature_count(), data.label_count());
  std::string lines;
  for (std::size_t i = 0; i < data.size(); ++i) {
    append_xmc_row(lines, data.labels(i), data.features(i));
    if (lines.size() < kBufferBytes) continue;
    writer.write(lines);
    lines.clear();
  }
  writer.write(lines);
  writer.finish();
}

}  // namespace slide
