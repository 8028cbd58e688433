// Max number of connections under the limit of open files (RLIMIT_NOFILE). Internal to the server.
#pragma once

#include <cstddef>
#include <string>

namespace slide::serve {

struct ConnectionRoom {
  std::size_t connections;  // max number of connections at the same time
  std::size_t refusals;     // max number of further connections that are answered with 503; more wait
  std::string warning;      // empty unless the limit is too low for the requested number
};

// Raises the limit of open files as far as needed and allowed, and divides it: some files stay free for
// reloads and logs. Throws Error where not even a few connections fit.
ConnectionRoom make_connection_room(std::size_t connections);

}  // namespace slide::serve
