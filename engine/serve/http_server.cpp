#include "engine/serve/http_server.h"

#include <signal.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <new>
#include <optional>
#include <thread>
#include <unordered_set>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/phases.h"
#include "engine/config/spellings.h"
#include "engine/serve/connection.h"
#include "engine/serve/file_limit.h"
#include "engine/serve/host_check.h"
#include "engine/serve/http_reply.h"
#include "engine/serve/listener.h"
#include "engine/serve/model_loader.h"
#include "engine/serve/post_patiently.h"
#include "engine/serve/predict_api.h"
#include "engine/serve/server_metrics.h"
#include "engine/serve/similar_api.h"
#include "engine/serve/worker_threads.h"

namespace slide::serve {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kOwnAnswer = 8192;  // bytes of an answer that are not counted
constexpr auto kMemoryPause = std::chrono::milliseconds(10);

Clock::duration seconds_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// A request during its prediction by a worker thread.
struct Job {
  std::shared_ptr<Connection> connection;
  ServerMetrics::Endpoint endpoint;
  std::string body;
  std::shared_ptr<const ServedModel> model;
  Reply reply;
};

}  // namespace

// Everything except the workers' part runs on the thread of run().
class HttpServer::Core final : public ConnectionHost {
 public:
  Core(const ServerOptions& options, Loader load, Log log)
      : options_(options),
        limits_{options.max_body, seconds_of(options.timeout), seconds_of(options.keep_alive)},
        hosts_(options.host, options.allowed_hosts),
        waiting_(options.max_waiting),
        log_(std::move(log)),
        threads_(resolve_threads(options.threads)),
        listener_(io_, options.host, options.port),
        stop_signals_(io_),
        reload_signals_(io_) {
    if (!options.access_log.empty()) access_log_.emplace(options.access_log, log_);
    workers_.emplace(static_cast<std::size_t>(threads_),
                     "lower --threads, or raise the limits of memory and processes (ulimit -v, -u)");
    loader_.emplace(io_, std::move(load), log_, metrics_, options.any_kind);
    room_ = make_connection_room(options_.max_connections);
    if (!room_.warning.empty()) log_("warning", room_.warning);
    catch_signals();
  }
  ~Core() { workers_.reset(); }

  std::string url() const { return listener_.url(); }

  void run() {
    listener_.start([this](tcp::socket socket) { return take(std::move(socket)); });
    while (true) {
      try {
        io_.run();
        return;
      } catch (const std::exception& error) {  // affects only its own connection
        outlive(error);
      }
    }
  }

  bool loading() const { return loader_->loading(); }

  const Limits& limits() const override { return limits_; }
  const HostCheck& hosts() const override { return hosts_; }
  ByteBudget& waiting() override { return waiting_; }
  ServerMetrics& metrics() override { return metrics_; }
  bool stopping() const override { return stopping_; }
  void add(Connection* connection) override { connections_.insert(connection), ++metrics_.connections; }
  void remove(Connection* connection) override;
  bool logs() const override { return access_log_.has_value(); }
  void log(const Access& access) override { access_log_->write(access); }
  Reply health() const override;
  Reply ready() const override;
  Reply metrics_reply() const override {
    return {http::status::ok, metrics_.text(*loader_->model(), waiting_),
            "text/plain; version=0.0.4; charset=utf-8"};
  }
  void predict(std::shared_ptr<Connection> connection, ServerMetrics::Endpoint endpoint,
               std::string body) override;

 private:
  bool take(tcp::socket socket);
  void catch_signals();
  void stop();
  void wait_for_reload();
  void outlive(const std::exception& error);
  Reply compute(const Job& job, Clock::time_point asked);

  const ServerOptions options_;
  const Limits limits_;
  const HostCheck hosts_;
  ByteBudget waiting_;
  const Log log_;
  const int threads_;
  ServerMetrics metrics_;
  std::unordered_set<Connection*> connections_;
  asio::io_context io_{1};
  Listener listener_;
  asio::signal_set stop_signals_, reload_signals_;
  Clock::time_point started_ = Clock::now();
  ConnectionRoom room_;
  bool stopping_ = false;
  std::optional<AccessLog> access_log_;
  std::optional<ModelLoader> loader_;
  std::optional<WorkerThreads> workers_;
};

// Returns whether there is room for another connection, also one to refuse.
bool HttpServer::Core::take(tcp::socket socket) {
  const bool refused = connections_.size() >= room_.connections;
  const auto connection = std::make_shared<Connection>(*this, std::move(socket));
  if (refused) ++metrics_.rejected;
  refused ? connection->refuse() : connection->start();
  return connections_.size() < room_.connections + room_.refusals;
}

void HttpServer::Core::remove(Connection* connection) {
  connections_.erase(connection);
  --metrics_.connections;
  if (stopping_ || connections_.size() >= room_.connections + room_.refusals) return;
  try {
    listener_.go_on();
  } catch (const std::bad_alloc&) {  // retried when the next connection ends
  }
}

// Takes over SIGTERM, SIGINT and SIGHUP before the URL is known, whose reader may send one at once; run()
// handles them.
void HttpServer::Core::catch_signals() {
  for (const int number : {SIGTERM, SIGINT}) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    // The parent may want Ctrl-C ignored, as shells do for background jobs.
    if (before.sa_handler != SIG_IGN) stop_signals_.add(number);
  }
  reload_signals_.add(SIGHUP);
  stop_signals_.async_wait([this](const error_code& error, int) {
    if (!error) stop();
  });
  wait_for_reload();
}

void HttpServer::Core::stop() {
  stop_signals_.clear();  // a second signal ends the process
  reload_signals_.cancel();
  listener_.stop();
  stopping_ = true;
  loader_->stop();
  const std::unordered_set<Connection*> connections = connections_;
  for (Connection* connection : connections) connection->stop();
}

void HttpServer::Core::wait_for_reload() {
  reload_signals_.async_wait([this](const error_code& error, int) {
    if (error || stopping_) return;  // a stop signal may have arrived together and been handled first
    wait_for_reload();
    if (access_log_) access_log_->reopen();
    loader_->reload();
  });
}

// Restarts accepting, whose next step the exception may have skipped.
void HttpServer::Core::outlive(const std::exception& error) {
  try {
    log_("warning", fmt::format("a connection failed: {}", error.what()));
    listener_.go_on();
  } catch (const std::exception&) {  // memory is still exhausted
    std::this_thread::sleep_for(kMemoryPause);
  }
}

Reply HttpServer::Core::health() const {
  const ServedModel& served = *loader_->model();
  const Model& model = served.model();
  const double uptime = seconds_since(started_);
  return {
      stopping_ ? http::status::service_unavailable : http::status::ok,
      fmt::format("{{\"status\":\"{}\",\"model\":\"{}\",\"input\":\"{}\",\"features\":{},\"labels\":{},"
                  "\"inference\":\"{}\",\"inference_asked\":\"{}\",\"uptime_seconds\":{:.1f}}}\n",
                  stopping_ ? "stopping" : "ready", served.fingerprint(), model.text ? "text" : "features",
                  model.network.sample_features(), model.network.labels(), spelling(served.usual_inference()),
                  spelling(served.inference()), uptime)};
}

// Whether a further request would be taken: a load balancer sends it elsewhere if not.
Reply HttpServer::Core::ready() const {
  const bool full = metrics_.in_flight >= options_.max_queue + static_cast<std::size_t>(threads_);
  const bool held = waiting_.held() >= waiting_.limit();
  const char* const status = stopping_ ? "stopping" : full ? "queue full" : held ? "memory full" : "ready";
  const bool taken = !stopping_ && !full && !held;
  return {taken ? http::status::ok : http::status::service_unavailable,
          fmt::format("{{\"status\":\"{}\",\"model\":\"{}\"}}\n", status, loader_->model()->fingerprint())};
}

// Answers a request on a worker thread: `asked` is the time of its arrival. Exceptions become HTTP errors:
// 400 for bad input, 503 where room, memory or time is short, else 500.
Reply HttpServer::Core::compute(const Job& job, Clock::time_point asked) {
  try {
    if (Clock::now() - asked > seconds_of(options_.timeout))
      return failure(http::status::service_unavailable, "the request waited too long; try again later");
    HeldBytes held(waiting_, kOwnAnswer);
    PredictAnswer answer = job.endpoint == ServerMetrics::Endpoint::kSimilar
                               ? answer_similar(job.body, *job.model, &held)
                               : answer_predict(job.body, *job.model, options_.k, &held, &metrics_.answers);
    answer.text.add("\n");
    return {.body = std::move(answer.text), .rows = answer.rows, .held = std::move(held)};
  } catch (const NoRoom& full) {
    return failure(http::status::service_unavailable, full.what() + std::string("; try again later"));
  } catch (const InputError& error) {
    return failure(http::status::bad_request, error.what());
  } catch (const std::bad_alloc&) {
    return failure(http::status::service_unavailable, "out of memory; try again later");
  } catch (const Error& error) {  // no room for an array
    return failure(http::status::service_unavailable, error.what());
  } catch (const std::exception& error) {
    return failure(http::status::internal_server_error, error.what());
  }
}

// Passes the request to a worker thread, which posts the reply back to this one. Refuses it when too many
// wait.
void HttpServer::Core::predict(std::shared_ptr<Connection> connection, ServerMetrics::Endpoint endpoint,
                               std::string body) {
  if (metrics_.in_flight >= options_.max_queue + static_cast<std::size_t>(threads_)) {
    ++metrics_.rejected;
    return connection->respond(
        failure(http::status::service_unavailable, "too many requests wait; try again later"));
  }
  const auto job =
      std::make_shared<Job>(Job{std::move(connection), endpoint, std::move(body), loader_->model(), {}});
  asio::post(workers_->queue(), [this, job, asked = Clock::now(), work = asio::make_work_guard(io_)] {
    try {
      job->reply = compute(*job, asked);
      job->reply.model = job->model->fingerprint();
    } catch (const std::exception&) {  // no memory for the message
      job->reply.status = http::status::service_unavailable;
    }
    job->model.reset();
    std::string().swap(job->body);
    post_patiently(io_, [this, job] {
      --metrics_.in_flight;
      if (job->reply.status == http::status::service_unavailable) ++metrics_.rejected;
      const auto asking = std::move(job->connection);  // destroyed on this thread
      asking->respond(std::move(job->reply));
    });
  });
  ++metrics_.in_flight;
}

HttpServer::HttpServer(const ServerOptions& options, Loader load, Log log)
    : core_(std::make_unique<Core>(options, std::move(load), std::move(log))) {}

HttpServer::~HttpServer() = default;

std::string HttpServer::url() const {
  return core_->url();
}

bool HttpServer::loading() const {
  return core_->loading();
}

void HttpServer::run() {
  core_->run();
}

}  // namespace slide::serve
