#include "engine/api/arguments.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/foreign_text.h"

namespace slide::api {

namespace {

constexpr std::size_t kMaxK = 10000;  // or the number of labels, if larger

}  // namespace

const std::string& checked_path(const std::string& path) {
  if (path.find('\0') != std::string::npos)
    fail_input("{}: this name holds a NUL character, and no file has such a name", shown_part(path));
  return path;
}

void check_k(const char* name, std::size_t k, std::size_t labels) {
  if (k == 0) fail_input("{} must be at least 1", name);
  if (k > std::max(labels, kMaxK))
    fail_input("{} = {}, but there are {} labels; give {} or less", name, k, labels, std::max(labels, kMaxK));
}

void check_ks(std::span<const std::uint32_t> ks, std::size_t labels) {
  if (ks.empty() || std::ranges::find(ks, 0U) != ks.end())
    fail_input("ranks: give one or more, each at least 1");
  check_k("ranks: k", *std::ranges::max_element(ks), labels);
}

}  // namespace slide::api
