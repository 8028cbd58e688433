#include "engine/serve/file_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "engine/base/error.h"

namespace slide::serve {

namespace {

constexpr std::size_t kRefusalsAtOnce = 256;
constexpr std::size_t kSpareFiles = 64;     // wanted beside connections: open ones and reserved ones
constexpr std::size_t kReservedFiles = 12;  // to load a model, open a log, read /proc

std::size_t open_files() {
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/self/fd", error);
  return error ? kSpareFiles - kReservedFiles
               : static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

}  // namespace

// Raises the limit of open files if it can; where files remain too few, reduces the connections and says so.
ConnectionRoom make_connection_room(std::size_t connections) {
  ConnectionRoom wished = {connections, kRefusalsAtOnce, {}};
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wished;
  const rlim_t wanted = connections + kRefusalsAtOnce + kSpareFiles;
  if (limit.rlim_cur < wanted) {
    limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) getrlimit(RLIMIT_NOFILE, &limit);
  }
  if (limit.rlim_cur >= wanted) return wished;
  const std::size_t taken = open_files() + kReservedFiles, files = limit.rlim_cur;
  if (files < taken + 2)
    fail_run("the limit of open files is {}, which leaves none for connections; raise it (ulimit -n {})",
             files, wanted);
  const std::size_t left = files - taken;
  const std::size_t refusals = std::clamp<std::size_t>(left / 4, 1, kRefusalsAtOnce);
  if (left >= connections + refusals) return {connections, refusals, {}};
  return {left - refusals, refusals,
          fmt::format("the limit of open files is {}: {} connections at once in place of {}, others get 503; "
                      "raise it (ulimit -n {}) or lower --max-connections",
                      files, left - refusals, connections, wanted)};
}

}  // namespace slide::serve
