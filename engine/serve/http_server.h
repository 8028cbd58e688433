// The HTTP server around a model: POST /predict (predict_api.h), GET /health, GET /metrics
// (server_metrics.h).
//
// One thread does all that concerns connections and never waits for a prediction; worker threads predict.
// What a client can take is bounded everywhere: bytes of a header and a body, the time a request may take to
// arrive and its answer to be taken, open connections, requests that wait. What is beyond a bound is answered
// with a status that says so (413, 431, 408, 503) and an object {"error": "..."}.
//
// From its construction on it handles the signals of the process: SIGTERM and SIGINT stop (a second one ends
// the process at once), SIGHUP loads the model and opens the access log again. One server at a time in a
// process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/serve/served_model.h"

namespace slide::serve {

struct ServerOptions {
  std::string host = "127.0.0.1";  // an address or a name
  std::uint16_t port = 0;          // 0: any that is free
  int threads = 0;                 // that predict; 0 = all cores
  std::size_t max_body = 1 << 20;  // bytes of a request's body
  std::size_t max_queue = 256;     // predictions that wait for a thread
  std::size_t max_connections = 1000;
  double timeout =
      10.0;  // seconds for a request to arrive, to wait for a thread, and for its answer to be taken
  double keep_alive = 60.0;  // seconds that a connection may be idle
  std::size_t k = 5;         // labels of an answer when the request does not say
  std::string access_log;    // file for a line of JSON for each answer, "-": standard output, empty: none
};

class HttpServer {
 public:
  using Loader = std::function<std::shared_ptr<const ServedModel>()>;
  using Log = std::function<void(std::string_view line)>;

  // Binds the address and listens; requests are answered from run() on. `load` brings the model, first here
  // and then at each SIGHUP, always on a thread of its own; when it throws then, the model before stays.
  // `log` is told of reloads and of an access log that cannot be written. Throws InputError when the address
  // is none or taken, Error when the access log cannot be opened, and what `load` throws.
  HttpServer(const ServerOptions& options, Loader load, Log log);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // http://127.0.0.1:8080
  std::string url() const;

  // Serves until a signal stops it and all requests under way are answered.
  void run();

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace slide::serve
