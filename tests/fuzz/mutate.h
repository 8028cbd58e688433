// Mutations that leave the frame of a format whole. Only for libFuzzer's own builds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed);

namespace slide::fuzz {

// Changes `bytes`, which may become `most` long: often only a few of them, so that all others stay in their
// places.
void mutate(std::string& bytes, std::size_t most, unsigned seed);

// Puts `bytes` into the fuzzer's memory, as far as there is room.
std::size_t put(const std::string& bytes, std::uint8_t* data, std::size_t max_size);

// Changes the fuzzer's input, and has `seal` put right in it what must fit.
std::size_t mutate_and_seal(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed,
                            void (*seal)(std::string& bytes));

}  // namespace slide::fuzz
