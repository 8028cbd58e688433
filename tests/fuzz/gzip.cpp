// Fuzz target: a gzip or Zstandard file of XMC text, decompressed in memory and to disk. gzip_mutator.cpp
// mutates the text and compresses it again.
#include "datasets/reader.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/unpack.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slide;
  using namespace slide::fuzz;
  const std::string_view packed = text_of(data, size);
  if (!is_packed(packed)) return 0;
  static const MemoryFile file;
  file.write(packed);
  std::string in_memory, from_file, why_memory, why_file;
  const bool taken = accepted([&] { in_memory = unpack(packed, file.path()); }, why_memory);
  check(accepted([&] { from_file = FileBytes(file.path()).text(); }, why_file) == taken &&
            why_file == why_memory,
        "a file is unpacked as bytes are");
  check(in_memory == from_file, "a file holds what its bytes do");
  if (!taken) return 0;
  accepted([&] {
    ReadOptions options;
    options.threads = 1;
    check_rows(parse_dataset(in_memory, "input", options));
  });
  return 0;
}
