// with_instruction_set SET PROGRAM [ARGUMENT]...: runs a test program under one instruction set, by
// SLIDE_SIMD.
//
// Exit code 77 (skipped, for ctest) where the machine lacks SET, and where SET is the default of PROGRAM.
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string_view>

#include "engine/kernels/kernels.h"

namespace {

constexpr int kSkipped = 77;

int run(const char* set, char** program) {
  using namespace slide::kernels;
  if (find(set) == nullptr) {
    std::cerr << "SKIPPED: this machine has no " << set << ", only";
    for (const KernelSet* other : available()) std::cerr << ' ' << other->name;
    std::cerr << '\n';
    return kSkipped;
  }
  if (active().name == std::string_view(set)) {
    std::cerr << "SKIPPED: " << set << " is what the tests use here anyway\n";
    return kSkipped;
  }
  setenv("SLIDE_SIMD", set, 1);
  execv(program[0], program);
  std::cerr << program[0] << " cannot be run\n";
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "with_instruction_set SET PROGRAM [ARGUMENT]...\n";
    return EXIT_FAILURE;
  }
  try {
    return run(argv[1], argv + 2);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
