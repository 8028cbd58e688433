// Fuzz target: a NumPy array.
#include "datasets/formats/npy.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slide;
  using namespace slide::fuzz;
  accepted([&] {
    const NpyArray array(std::string(text_of(data, size)), "array", "input");
    std::vector<std::uint64_t> whole;
    std::vector<float> numbers;
    if (array.whole_numbers(whole)) {
      check(array.numbers(numbers), "whole numbers are numbers");
      check(numbers.size() == whole.size(), "an array has one size");
    } else {
      array.numbers(numbers);
    }
    check(array.items().size() >= std::max(whole.size(), numbers.size()), "an item has a byte at least");
  });
  return 0;
}
