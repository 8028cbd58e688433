// Fuzz target: an .npz file, as features and as labels of a pair. zip_mutator.cpp keeps its members'
// checksums valid.
#include "datasets/formats/npz.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slide;
  using namespace slide::fuzz;
  const NamedBytes file = {text_of(data, size), "input"};
  accepted([&] {
    ReadOptions options;
    options.threads = 1;
    MemorySink sink;
    const CsrSizes sizes = parse_npz(file, file, options, sink);
    const Dataset rows = sink.take(sizes, options);
    check_rows(rows);
    train_and_predict(rows);
  });
  return 0;
}
