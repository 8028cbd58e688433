#include "engine/cli/version.h"

#include <fmt/format.h>

#include <commit.h>  // made by the build

#include <string_view>

#include "engine/kernels/kernels.h"

namespace slide::cli {

std::string version_line() {
  const std::string_view commit = kCommit;
  const char* set = kernels::active().name;
  if (commit.empty()) return fmt::format("slide {} ({})", SLIDE_VERSION, set);
  return fmt::format("slide {} (commit {}, {})", SLIDE_VERSION, commit, set);
}

}  // namespace slide::cli
