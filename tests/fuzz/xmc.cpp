// Fuzz target: XMC and libsvm text, with detected format and with each of both.
#include <optional>

#include "datasets/formats/detect.h"
#include "datasets/formats/xmc_writer.h"
#include "datasets/reader.h"
#include "datasets/rows/csr_sink.h"
#include "datasets/rows/text_parser.h"
#include "tests/fuzz/fuzz.h"

namespace slide::fuzz {
namespace {

ReadOptions options_of(DataFormat format, bool plain) {
  ReadOptions options;
  options.format = format;
  options.normalize = !plain;
  options.one_based = plain;
  options.threads = 1;
  return options;
}

// Rows and messages are equal for one chunk and for several.
std::optional<Dataset> read(std::string_view text, const ReadOptions& options) {
  std::optional<Dataset> whole, cut;
  std::string why_whole, why_cut;
  accepted([&] { whole = parse_text(text, "input", options); }, why_whole);
  accepted([&] { cut = parse_text(text, "input", options, 1 + text.size() / 4); }, why_cut);
  check(whole.has_value() == cut.has_value() && why_whole == why_cut, "chunks are accepted as the whole is");
  if (!whole) return {};
  check_rows(*whole);
  check_same(*whole, *cut);
  return whole;
}

// Written data reads back bit for bit.
void write_and_read(const Dataset& data) {
  std::string text = fmt::format("{} {} {}\n", data.size(), data.feature_count(), data.label_count());
  for (std::size_t i = 0; i < data.size(); ++i) append_xmc_row(text, data.labels(i), data.features(i));
  ReadOptions options = options_of(DataFormat::kXmc, true);
  options.one_based = false;
  check_same(data, parse_text(text, "written", options));
}

}  // namespace
}  // namespace slide::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slide;
  using namespace slide::fuzz;
  const std::string text(text_of(data, size));
  accepted([&] { check_rows(parse_dataset(text, "input", options_of(DataFormat::kAuto, false))); });
  for (const DataFormat format : {DataFormat::kXmc, DataFormat::kLibsvm}) {
    if (const auto rows = read(text, options_of(format, false))) train_and_predict(*rows);
    if (const auto rows = read(text, options_of(format, true))) write_and_read(*rows);
  }
  return 0;
}
