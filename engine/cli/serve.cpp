#include "engine/base/error.h"
#include "engine/cli/commands.h"
#include "engine/cli/text.h"
#include "engine/serve/http_server.h"

namespace slide::cli {

void run_serve(const ServeCommand& command) {
  const auto load = [&] { return std::make_shared<const serve::ServedModel>(command.model); };
  const auto log = [](std::string_view line) { fmt::print(stderr, "slide: {}\n", line); };
  serve::HttpServer server(command.server, load, log);
  print("listening on {}\n", server.url());
  server.run();
}

}  // namespace slide::cli
