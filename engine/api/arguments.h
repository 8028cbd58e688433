// Checks of arguments that several calls have. Internal to the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace slide::api {

// Returns `path`. Throws InputError where it holds a NUL character, at which the system would end it.
const std::string& checked_path(const std::string& path);

// Throws InputError unless there are ranks, each at least 1 and at most `labels` or 10,000, whichever is
// more: rows of an answer are as long as the largest.
void check_ranks(std::span<const std::uint32_t> ranks, std::size_t labels);
// The same of one, called `name`.
void check_rank(const char* name, std::size_t k, std::size_t labels);

}  // namespace slide::api
