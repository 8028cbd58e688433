// Mutations that preserve the frame of a format. Only for libFuzzer builds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed);

namespace slide::fuzz {

// Mutates `bytes`, to at most `most` bytes: often only a few of them, so that others keep their positions.
void mutate(std::string& bytes, std::size_t most, unsigned seed);

// Copies `bytes` to the fuzzer's memory, as far as it fits.
std::size_t put(const std::string& bytes, std::uint8_t* data, std::size_t max_size);

// Mutates the fuzzer's input; `seal` corrects dependent fields.
std::size_t mutate_and_seal(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed,
                            void (*seal)(std::string& bytes));

}  // namespace slide::fuzz
