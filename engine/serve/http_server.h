// HTTP server for a model: POST /predict (predict_api.h), POST /similar (similar_api.h), GET /health, GET
// /ready, GET /metrics (server_metrics.h), GET / (page.h).
//
// One thread handles all connections and never waits for a prediction; worker threads predict. All client
// resources are bounded: bytes of header and body, bytes that wait to be sent, the time for a request to
// arrive and its answer to be read, open connections, and queued requests. Requests beyond a bound get a
// status (413, 431, 408, 503) and an object {"error": "..."}.
//
// From its construction on it handles the process's signals: SIGTERM and SIGINT stop it (a second one ends
// the process at once), SIGHUP reloads the model and reopens the access log. At most one server per process
// at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/serve/access_log.h"
#include "engine/serve/served_model.h"

namespace slide::serve {

struct ServerOptions {
  std::string host = "127.0.0.1";          // an address or a host name
  std::uint16_t port = 0;                  // 0: any free port
  std::vector<std::string> allowed_hosts;  // further names of the server (host_check.h)
  int threads = 0;                         // worker threads; 0 = all cores
  std::size_t max_body = 1 << 20;          // bytes of a request body
  std::size_t max_queue = 256;             // predictions waiting for a thread
  std::size_t max_connections = 1000;
  std::size_t max_waiting = std::size_t{48} << 20;  // bytes of all requests and answers (byte_budget.h)
  double timeout = 10.0;     // seconds, each: arrival of a request, wait for a thread, reading of the answer
  double keep_alive = 60.0;  // seconds that a connection may be idle
  bool any_kind = false;     // whether a reload may load a model that takes other inputs
  std::size_t k = 5;         // default number of labels per answer
  std::string access_log;    // file, one JSON line per answer; "-": standard output; empty: none
};

class HttpServer {
 public:
  using Loader = std::function<std::shared_ptr<const ServedModel>()>;

  // Binds the address and listens; run() answers requests. `load` returns the model: called here, and at each
  // SIGHUP, always on a separate thread; where it throws at a reload, the previous model stays. `log`
  // receives lines about reloads and failures of the access log. Throws InputError where the address is
  // invalid or in use, Error where the access log cannot be opened, and what `load` throws.
  HttpServer(const ServerOptions& options, Loader load, Log log);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // e.g. http://127.0.0.1:8080
  std::string url() const;

  // Serves until a signal stops it and all pending requests are answered.
  void run();
  // After run(): whether a reload is still under way, whose end the destructor waits for. It may never come,
  // as with a disk that does not answer.
  bool loading() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace slide::serve
