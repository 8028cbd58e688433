// Fuzz target: IDX images followed by their labels, which begin at the last bytes 00 00 08 01.
#include "datasets/formats/idx.h"

#include <algorithm>

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slide;
  using namespace slide::fuzz;
  constexpr std::string_view kLabels("\0\0\x08\x01", 4);
  const std::string_view input = text_of(data, size);
  const std::size_t labels = std::min(input.rfind(kLabels), size);
  for (const bool normalize : {true, false}) {
    ReadOptions options;
    options.threads = 1;
    options.normalize = normalize;
    options.label_limit = normalize ? 0 : 10;
    accepted([&] {
      MemorySink sink;
      const CsrSizes sizes =
          parse_idx({input.substr(0, labels), "images"}, {input.substr(labels), "labels"}, options, sink);
      const Dataset rows = sink.take(sizes, options);
      check_rows(rows);
      if (normalize) train_and_predict(rows);
    });
  }
  return 0;
}
