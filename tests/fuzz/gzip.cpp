// Fuzz target: a gzip or Zstandard file of XMC text, decompressed from a file and in memory.
// The packed file must be read, or refused, as a file of its content is. gzip_mutator.cpp mutates the text
// and compresses it again.
#include "datasets/reader.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/labelled_line.h"
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
  bool taken =
      accepted([&] { in_memory = without_byte_order_mark(unpack(packed, file.path())); }, why_memory);
  const bool file_taken = accepted([&] { from_file = FileBytes(file.path()).text(); }, why_file);
  if (taken && !is_packed(in_memory)) {
    file.write(in_memory);
    taken = accepted([&] { in_memory = FileBytes(file.path()).text(); }, why_memory);
  }
  check(taken == file_taken && why_memory == why_file, "a packed file is accepted as its content is");
  check(!taken || in_memory == from_file, "a packed file holds its content");
  if (!taken) return 0;
  accepted([&] {
    ReadOptions options;
    options.threads = 1;
    check_rows(parse_dataset(in_memory, "input", options));
  });
  return 0;
}
