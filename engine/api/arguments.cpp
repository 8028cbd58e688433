#include "engine/api/arguments.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/foreign_text.h"

namespace slide::api {

namespace {

constexpr std::size_t kMaxRank = 10000;  // of few labels, as in commands

}  // namespace

const std::string& checked_path(const std::string& path) {
  if (path.find('\0') != std::string::npos)
    fail_input("{}: this name holds a NUL character, and no file has such a name", shown_part(path));
  return path;
}

void check_rank(const char* name, std::size_t k, std::size_t labels) {
  if (k == 0) fail_input("{} must be at least 1", name);
  if (k > std::max(labels, kMaxRank))
    fail_input("{} = {}, but there are {} labels; give {} or less", name, k, labels,
               std::max(labels, kMaxRank));
}

void check_ranks(std::span<const std::uint32_t> ranks, std::size_t labels) {
  if (ranks.empty() || std::ranges::find(ranks, 0U) != ranks.end())
    fail_input("ranks: give one or more, each at least 1");
  check_rank("ranks: k", *std::ranges::max_element(ranks), labels);
}

}  // namespace slide::api
