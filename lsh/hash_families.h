// Factory of hash function families by their name in a configuration. Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "lsh/hash_config.h"
#include "lsh/hash_functions.h"

namespace slide::lsh {

// The family of config.family for vectors of `dim` values, with the functions of generation 0. Throws
// InputError for invalid settings.
std::unique_ptr<HashFunctions> make_hash_functions(const HashConfig& config, std::size_t dim,
                                                   std::uint64_t seed);

// One family each.
std::unique_ptr<HashFunctions> make_wta(const HashConfig& config, std::size_t dim, std::uint64_t seed);
std::unique_ptr<HashFunctions> make_dwta(const HashConfig& config, std::size_t dim, std::uint64_t seed);
std::unique_ptr<HashFunctions> make_minhash(const HashConfig& config, std::size_t dim, std::uint64_t seed);

}  // namespace slide::lsh
