// Checks of arguments that several functions of the library take. Pure functions, safe from any thread.
// Internal to the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace slide::api {

// Returns `path`. Throws InputError where it has a NUL character: system calls would end the name there.
const std::string& checked_path(const std::string& path);

// Checks the k of a top-k answer over `labels` labels, named `name` in messages. Throws InputError unless
// 1 <= k <= max(labels, 10000): an answer allocates rows of k entries.
void check_k(const char* name, std::size_t k, std::size_t labels);
// Checks the k values of metrics. Throws InputError where there are none, or check_k() refuses one.
void check_ks(std::span<const std::uint32_t> ks, std::size_t labels);

}  // namespace slide::api
