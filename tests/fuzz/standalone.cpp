// Runs a target over files and folders of files: previous findings, and seeds. Missing paths are ignored.
// usage: PROGRAM PATH...     exit code 2 where there is no file at all
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/sanitizers.h"

namespace {

namespace fs = std::filesystem;

constexpr unsigned kMaxSeconds = 60;  // per input

std::vector<fs::path> files_of(int count, char** arguments) {
  std::vector<fs::path> files;
  for (int i = 1; i < count; ++i) {
    if (fs::is_regular_file(arguments[i])) files.emplace_back(arguments[i]);
    if (!fs::is_directory(arguments[i])) continue;
    for (const auto& entry : fs::directory_iterator(arguments[i])) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Sanitizers reserve more than any limit.
void limit_memory() {
  if (slide::kSanitized) return;
  const rlimit limit = {rlim_t{4} << 30, rlim_t{4} << 30};
  setrlimit(RLIMIT_AS, &limit);
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::vector<fs::path> files = files_of(argument_count, arguments);
  if (files.empty()) {
    std::fprintf(stderr, "no input\n");
    return 2;
  }
  limit_memory();
  for (const fs::path& file : files) {
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);  // the last printed input is the one that ended the process
    std::ifstream in(file, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    bytes.shrink_to_fit();
    alarm(kMaxSeconds);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs\n", files.size());
  return 0;
}
