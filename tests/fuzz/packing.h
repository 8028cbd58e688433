// Minimal compression formats for seeds and mutations. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slide::fuzz {

std::string pack_gzip(std::string_view bytes);
std::string pack_zstd(std::string_view bytes);
// A zip archive of these members, stored uncompressed.
std::string stored_zip(const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace slide::fuzz
