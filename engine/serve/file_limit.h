// How many connections the limit of open files leaves room for. Internal to the server.
#pragma once

#include <cstddef>
#include <string>

namespace slide::serve {

struct ConnectionRoom {
  std::size_t connections;  // at once
  std::size_t refusals;     // beyond these: connections that get a refusal; others wait
  std::string warning;      // where the limit is too low for as many as were asked for
};

// Raises the limit of open files as far as the system allows; some files stay free for reloads and logs.
// Throws Error where not even a few connections fit.
ConnectionRoom make_connection_room(std::size_t connections);

}  // namespace slide::serve
