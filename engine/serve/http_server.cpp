#include "engine/serve/http_server.h"

#include <signal.h>
#include <sys/resource.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <ctime>
#include <optional>
#include <unordered_set>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/phases.h"
#include "engine/config/spellings.h"
#include "engine/serve/predict_api.h"
#include "engine/serve/server_metrics.h"

namespace slide::serve {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Endpoint = ServerMetrics::Endpoint;

namespace {

constexpr std::size_t kMostHeader = 16384;
constexpr std::size_t kReadBytes = 8192;
constexpr int kBacklog = 1024;
constexpr std::size_t kRefusalsAtOnce = 64;  // connections beyond the bound that are told so
constexpr std::size_t kSpareFiles = 64;
constexpr auto kDrainTime = std::chrono::seconds(1);
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

Clock::duration seconds_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[parts.tm_wday], parts.tm_mday,
                     kMonths[parts.tm_mon], 1900 + parts.tm_year, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

// As many open files as the connections need, as far as the system allows.
void raise_file_limit(std::size_t connections) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = connections + kRefusalsAtOnce + kSpareFiles;
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Threads that begin while one of these lives, and the threads that they begin, never handle the signals of a
// server: those go to the thread of run().
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

struct Reply {
  http::status status = http::status::ok;
  std::string body;
  const char* type = "application/json";
  const char* allow = nullptr;  // methods, with method_not_allowed
};

Reply failure(http::status status, std::string_view message) {
  return {status, error_json(message) + "\n"};
}

// What a request asks for, as far as its header tells.
struct Route {
  Endpoint endpoint = Endpoint::kOther;
  std::optional<Reply> refusal;
};

bool is_json(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ') || type.ends_with('\t')) type.remove_suffix(1);
  // The last is what curl -d says when it is not told otherwise.
  for (const char* good : {"", "application/json", "application/x-www-form-urlencoded"}) {
    if (boost::beast::iequals(boost::beast::string_view(type.data(), type.size()), good)) return true;
  }
  return false;
}

std::string_view text_of(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

template <class Request>
Route route_of(const Request& request) {
  const std::string_view target = text_of(request.target());
  const std::string_view path = target.substr(0, target.find('?'));
  Route route;
  if (path == "/predict") {
    route.endpoint = Endpoint::kPredict;
    if (request.method() != http::verb::post) {
      route.refusal = failure(http::status::method_not_allowed, "/predict takes POST");
      route.refusal->allow = "POST";
    } else if (!is_json(text_of(request[http::field::content_type]))) {
      route.refusal =
          failure(http::status::unsupported_media_type, "send JSON, Content-Type: application/json");
    } else if (request.count(http::field::content_encoding) > 0) {
      route.refusal = failure(http::status::unsupported_media_type, "send the body without Content-Encoding");
    }
    return route;
  }
  if (path == "/health") route.endpoint = Endpoint::kHealth;
  if (path == "/metrics") route.endpoint = Endpoint::kMetrics;
  if (route.endpoint == Endpoint::kOther) {
    route.refusal = failure(http::status::not_found, "there are POST /predict, GET /health and GET /metrics");
  } else if (request.method() != http::verb::get && request.method() != http::verb::head) {
    route.refusal = failure(http::status::method_not_allowed, fmt::format("{} takes GET", path));
    route.refusal->allow = "GET, HEAD";
  }
  return route;
}

}  // namespace

// All but the worker threads' part runs on the thread of run().
class HttpServer::Core {
 public:
  Core(const ServerOptions& options, Loader load, Log log)
      : options_(options),
        load_(std::move(load)),
        log_(std::move(log)),
        threads_(resolve_threads(options.threads)),
        acceptor_(io_),
        accept_pause_(io_),
        stop_signals_(io_),
        reload_signals_(io_) {
    listen();
    {
      const SignalsBlocked blocked;
      workers_.emplace(static_cast<std::size_t>(threads_));
      loader_.emplace(1);
    }
    model_ = asio::post(*loader_, asio::use_future(std::cref(load_))).get();
    catch_signals();
  }

  ~Core() {
    workers_->join();
    loader_->join();
  }

  std::string url() const {
    const tcp::endpoint at = acceptor_.local_endpoint();
    const std::string address = at.address().to_string();
    return at.address().is_v6() ? fmt::format("http://[{}]:{}", address, at.port())
                                : fmt::format("http://{}:{}", address, at.port());
  }

  void run() {
    raise_file_limit(options_.max_connections);
    accept();
    while (true) {
      try {
        io_.run();
        return;
      } catch (const std::exception& error) {  // costs the connection it came from, no more
        log_(fmt::format("a connection failed: {}", error.what()));
      }
    }
  }

  const ServerOptions& options() const { return options_; }
  ServerMetrics& metrics() { return metrics_; }
  bool stopping() const { return stopping_; }
  void add(Session* session) { sessions_.insert(session), ++metrics_.connections; }
  void remove(Session* session) { sessions_.erase(session), --metrics_.connections; }

  Reply health() const;
  Reply metrics_reply() const {
    return {http::status::ok, metrics_.text(*model_), "text/plain; version=0.0.4; charset=utf-8"};
  }
  // Has `body` answered, and session->respond() called with the answer.
  void predict(std::shared_ptr<Session> session, std::string body);

 private:
  void listen();
  void accept();
  void take(tcp::socket socket);
  void catch_signals();
  void stop();
  void wait_for_reload();
  void reload();
  Reply compute(const std::string& body, const ServedModel& model, Clock::time_point asked) const;

  const ServerOptions options_;
  const Loader load_;
  const Log log_;
  const int threads_;
  ServerMetrics metrics_;
  std::unordered_set<Session*> sessions_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer accept_pause_;
  asio::signal_set stop_signals_, reload_signals_;
  std::shared_ptr<const ServedModel> model_;
  Clock::time_point started_ = Clock::now();
  bool stopping_ = false;
  bool loading_ = false, load_again_ = false;
  std::optional<asio::thread_pool> workers_, loader_;
};

// One connection: reads a request, has it answered, and so on. Lives as long as something is under way for
// it.
class HttpServer::Session : public std::enable_shared_from_this<HttpServer::Session> {
 public:
  Session(Core& core, tcp::socket socket)
      : core_(core), socket_(std::move(socket)), timer_(socket_.get_executor()) {
    core_.add(this);
  }
  ~Session() { core_.remove(this); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() {
    error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    await_request();
  }

  // Answers a connection beyond the bound.
  void refuse() {
    unread_ = true;
    respond(failure(http::status::service_unavailable, "too many connections; try again later"));
  }

  // The server stops: nothing more is awaited from an idle client.
  void stop() {
    error_code ignored;
    if (idle_ && socket_.available(ignored) == 0) close();
  }

  void respond(Reply reply) {
    const bool head = parser_ && parser_->get().method() == http::verb::head;
    response_ = {};
    response_.version(11);
    response_.result(reply.status);
    response_.set(http::field::server, "slide");
    response_.set(http::field::date, date_text());
    response_.set(http::field::content_type, reply.type);
    if (reply.allow != nullptr) response_.set(http::field::allow, reply.allow);
    if (reply.status == http::status::service_unavailable) response_.set(http::field::retry_after, "1");
    response_.keep_alive(!unread_ && parser_ && parser_->is_done() && parser_->keep_alive() &&
                         !core_.stopping());
    response_.content_length(reply.body.size());
    if (!head) response_.body() = std::move(reply.body);
    if (unread_ || !parser_ || !parser_->is_done()) asked_ = Clock::now();
    limit_time(seconds_of(core_.options().timeout));
    http::async_write(socket_, response_, [self = shared_from_this()](const error_code& error, std::size_t) {
      self->written(error);
    });
  }

 private:
  // Nothing of the next request is there yet: a client may take longer for that than within a request.
  void await_request() {
    route_ = {};
    parser_.emplace();
    parser_->header_limit(kMostHeader);
    parser_->body_limit(core_.options().max_body);
    if (buffer_.size() > 0) return read_header();
    error_code ignored;
    if (core_.stopping() && socket_.available(ignored) == 0) return close();
    idle_ = true;
    limit_time(seconds_of(core_.options().keep_alive));
    socket_.async_read_some(buffer_.prepare(kReadBytes),
                            [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                              self->idle_ = false;
                              if (error) return self->close();
                              self->buffer_.commit(bytes);
                              self->read_header();
                            });
  }

  void read_header() {
    limit_time(seconds_of(core_.options().timeout));  // for the body too
    http::async_read_header(socket_, buffer_, *parser_,
                            [self = shared_from_this()](const error_code& error, std::size_t) {
                              if (error) return self->read_failed(error);
                              self->header_read();
                            });
  }

  void header_read() {
    route_ = route_of(parser_->get());
    if (route_.refusal && !parser_->is_done()) {
      unread_ = true;
      return respond(std::move(*route_.refusal));
    }
    if (!parser_->is_done() && boost::beast::iequals(parser_->get()[http::field::expect], "100-continue")) {
      continue_ = {http::status::continue_, 11};
      http::async_write(socket_, continue_,
                        [self = shared_from_this()](const error_code& error, std::size_t) {
                          if (error) return self->close();
                          self->read_body();
                        });
      return;
    }
    read_body();
  }

  void read_body() {
    if (late_) return read_failed(asio::error::timed_out);
    http::async_read(socket_, buffer_, *parser_,
                     [self = shared_from_this()](const error_code& error, std::size_t) {
                       if (error) return self->read_failed(error);
                       self->request_read();
                     });
  }

  void request_read() {
    asked_ = Clock::now();
    limit_.reset();
    if (route_.refusal) return respond(std::move(*route_.refusal));
    switch (route_.endpoint) {
      case Endpoint::kHealth:
        return respond(core_.health());
      case Endpoint::kMetrics:
        return respond(core_.metrics_reply());
      default:
        return core_.predict(shared_from_this(), std::move(parser_->get().body()));
    }
  }

  void read_failed(const error_code& error) {
    if (late_)
      return refuse_rest(failure(http::status::request_timeout, "the request took too long to arrive"));
    if (error == http::error::body_limit) {
      return refuse_rest(
          failure(http::status::payload_too_large,
                  fmt::format("the body may have {} bytes; see --max-body", core_.options().max_body)));
    }
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      return refuse_rest(failure(http::status::request_header_fields_too_large,
                                 fmt::format("the header may have {} bytes", kMostHeader)));
    }
    const bool gone = error == http::error::end_of_stream || error == http::error::partial_message;
    if (!gone && error.category() == http::make_error_code(http::error::bad_method).category()) {
      return refuse_rest(
          failure(http::status::bad_request, fmt::format("this is no HTTP ({})", error.message())));
    }
    close();
  }

  void refuse_rest(Reply reply) {
    unread_ = true;
    respond(std::move(reply));
  }

  void written(const error_code& error) {
    limit_.reset();
    core_.metrics().add_request(route_.endpoint, response_.result_int(), seconds_since(asked_));
    if (error) return close();
    if (response_.keep_alive()) return await_request();
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    if (!unread_) return close();
    // Closed with bytes unread, the connection would be reset, and the client might never see the answer.
    limit_time(kDrainTime);
    drain();
  }

  void drain() {
    buffer_.clear();
    socket_.async_read_some(buffer_.prepare(kReadBytes),
                            [self = shared_from_this()](const error_code& error, std::size_t) {
                              if (error || self->late_) return self->close();
                              self->drain();
                            });
  }

  // What is under way from now on must be done within `time`, else it is cancelled and late_ set.
  void limit_time(Clock::duration time) {
    late_ = false;
    limit_ = Clock::now() + time;
    if (!timer_set_ || timer_.expiry() > *limit_) watch();
  }

  // The timer is not set anew for every request: when it fires too early, it looks when to fire next.
  void watch() {
    timer_set_ = true;
    timer_.expires_at(*limit_);
    timer_.async_wait([self = weak_from_this()](const error_code& error) {
      const auto session = self.lock();
      if (error || session == nullptr) return;
      session->timer_set_ = false;
      if (!session->limit_) return;
      if (Clock::now() < *session->limit_) return session->watch();
      session->late_ = true;
      session->limit_.reset();
      error_code ignored;
      session->socket_.cancel(ignored);
    });
  }

  void close() {
    limit_.reset();
    timer_.cancel();
    error_code ignored;
    socket_.close(ignored);
  }

  Core& core_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  http::response<http::empty_body> continue_;
  Route route_;
  Clock::time_point asked_;                 // when the request was there
  std::optional<Clock::time_point> limit_;  // of what is under way
  bool timer_set_ = false;
  bool late_ = false;
  bool idle_ = false;
  bool unread_ = false;  // the client may still be sending what is not read
};

void HttpServer::Core::listen() {
  if (options_.host.empty()) fail_input("--host is empty; try 127.0.0.1");
  error_code error;
  tcp::resolver resolver(io_);
  const auto found = resolver.resolve(options_.host, std::to_string(options_.port),
                                      tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty())
    fail_input("--host {}: no such address ({}); try 127.0.0.1", options_.host, error.message());
  const tcp::endpoint at = found.begin()->endpoint();
  acceptor_.open(at.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(at, error);
  if (!error) acceptor_.listen(kBacklog, error);
  if (error) {
    fail_input("cannot listen on {} port {} ({}); give another --host or --port", options_.host,
               options_.port, error.message());
  }
}

void HttpServer::Core::accept() {
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    if (!error) take(std::move(socket));
    if (stopping_ || error == asio::error::operation_aborted) return;
    if (!error) return accept();
    accept_pause_.expires_after(kAcceptPause);  // out of files: some will be free soon
    accept_pause_.async_wait([this](const error_code& cancelled) {
      if (!cancelled) accept();
    });
  });
}

void HttpServer::Core::take(tcp::socket socket) {
  if (sessions_.size() < options_.max_connections) {
    std::make_shared<Session>(*this, std::move(socket))->start();
    return;
  }
  ++metrics_.rejected;
  if (sessions_.size() < options_.max_connections + kRefusalsAtOnce)
    std::make_shared<Session>(*this, std::move(socket))->refuse();
}

// From here on signals wait for run(): who reads the URL may send one at once.
void HttpServer::Core::catch_signals() {
  for (const int number : {SIGTERM, SIGINT}) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    // Who started the process may want it to ignore Ctrl-C, as a shell does for background jobs.
    if (before.sa_handler != SIG_IGN) stop_signals_.add(number);
  }
  reload_signals_.add(SIGHUP);
  stop_signals_.async_wait([this](const error_code& error, int) {
    if (!error) stop();
  });
  wait_for_reload();
}

// Connections that clients have opened by now are served; then there are no more.
void HttpServer::Core::stop() {
  stop_signals_.clear();  // the next one ends the process
  reload_signals_.cancel();
  accept_pause_.cancel();
  error_code error;
  acceptor_.non_blocking(true, error);
  while (!error) {
    tcp::socket socket(io_);
    acceptor_.accept(socket, error);
    if (!error) take(std::move(socket));
  }
  stopping_ = true;
  acceptor_.close(error);
  const std::unordered_set<Session*> sessions = sessions_;
  for (Session* session : sessions) session->stop();
}

void HttpServer::Core::wait_for_reload() {
  reload_signals_.async_wait([this](const error_code& error, int) {
    if (error || stopping_) return;  // a signal to stop may have come with this one, and been handled first
    reload();
    wait_for_reload();
  });
}

// Loads beside the model that is served; a signal that comes meanwhile loads once more.
void HttpServer::Core::reload() {
  load_again_ = loading_;
  if (loading_) return;
  loading_ = true;
  asio::post(*loader_, [this, work = asio::make_work_guard(io_)] {
    std::shared_ptr<const ServedModel> loaded;
    std::string fault;
    try {
      loaded = load_();
    } catch (const std::exception& error) {
      fault = error.what();
    }
    asio::post(io_, [this, loaded = std::move(loaded), fault = std::move(fault)]() mutable {
      metrics_.add_reload(loaded != nullptr);
      if (loaded != nullptr) {
        log_(fmt::format("reloaded {} ({}) in {:.2f} s", loaded->path(), loaded->fingerprint(),
                         loaded->load_seconds()));
        model_ = std::move(loaded);
      } else {
        log_(fmt::format("reload failed, the model before stays: {}", fault));
      }
      loading_ = false;
      if (std::exchange(load_again_, false) && !stopping_) reload();
    });
  });
}

Reply HttpServer::Core::health() const {
  const Model& model = model_->model();
  const double uptime = seconds_since(started_);
  return {
      stopping_ ? http::status::service_unavailable : http::status::ok,
      fmt::format("{{\"status\":\"{}\",\"model\":\"{}\",\"input\":\"{}\",\"features\":{},\"labels\":{},"
                  "\"inference\":\"{}\",\"uptime_seconds\":{:.1f}}}\n",
                  stopping_ ? "stopping" : "ready", model_->fingerprint(), model.text ? "text" : "features",
                  model.network.features(), model.network.labels(), spelling(model_->inference()), uptime)};
}

Reply HttpServer::Core::compute(const std::string& body, const ServedModel& model,
                                Clock::time_point asked) const {
  try {
    if (Clock::now() - asked > seconds_of(options_.timeout))
      return failure(http::status::service_unavailable, "the request waited too long; try again later");
    return {http::status::ok, answer_predict(body, model, options_.k) + "\n"};
  } catch (const InputError& error) {
    return failure(http::status::bad_request, error.what());
  } catch (const std::bad_alloc&) {
    return failure(http::status::service_unavailable, "out of memory; try again later");
  } catch (const std::exception& error) {
    return failure(http::status::internal_server_error, error.what());
  }
}

void HttpServer::Core::predict(std::shared_ptr<Session> session, std::string body) {
  if (metrics_.in_flight >= options_.max_queue + static_cast<std::size_t>(threads_)) {
    ++metrics_.rejected;
    return session->respond(
        failure(http::status::service_unavailable, "too many requests wait; try again later"));
  }
  ++metrics_.in_flight;
  asio::post(*workers_, [this, session = std::move(session), body = std::move(body), model = model_,
                         asked = Clock::now(), work = asio::make_work_guard(io_)]() mutable {
    Reply reply = compute(body, *model, asked);
    model.reset();
    asio::post(io_, [this, session = std::move(session), reply = std::move(reply)]() mutable {
      --metrics_.in_flight;
      session->respond(std::move(reply));
    });
  });
}

HttpServer::HttpServer(const ServerOptions& options, Loader load, Log log)
    : core_(std::make_unique<Core>(options, std::move(load), std::move(log))) {}

HttpServer::~HttpServer() = default;

std::string HttpServer::url() const {
  return core_->url();
}

void HttpServer::run() {
  core_->run();
}

}  // namespace slide::serve
