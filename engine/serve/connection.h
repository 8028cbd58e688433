// One HTTP connection: reads a request, gets it answered, and repeats. All client resources are bounded:
// bytes of header and body, of one client and of all together, and the time for a request to arrive and for
// its answer to be read. Pending operations keep the connection alive, on the thread of its socket. Internal
// to the server.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "engine/serve/access_log.h"
#include "engine/serve/byte_budget.h"
#include "engine/serve/host_check.h"
#include "engine/serve/http_reply.h"
#include "engine/serve/server_metrics.h"

namespace slide::serve {

class Connection;

// Interface of the server to its connections.
class ConnectionHost {
 public:
  struct Limits {
    std::size_t body = 0;                           // bytes
    std::chrono::steady_clock::duration timeout{};  // for a request to arrive, and for its answer to be read
    std::chrono::steady_clock::duration idle_time{};
  };

  virtual const Limits& limits() const = 0;
  virtual const HostCheck& hosts() const = 0;
  virtual ByteBudget& waiting() = 0;  // bytes of requests and answers
  virtual bool stopping() const = 0;
  virtual ServerMetrics& metrics() = 0;
  virtual bool logs() const = 0;  // whether to call log()
  virtual void log(const Access& access) = 0;
  virtual void add(Connection* connection) = 0;     // registers a new connection
  virtual void remove(Connection* connection) = 0;  // unregisters a closing one
  virtual Reply health() const = 0;
  virtual Reply ready() const = 0;
  virtual Reply metrics_reply() const = 0;
  // Predicts for `body` and calls connection->respond() with the answer.
  virtual void predict(std::shared_ptr<Connection> connection, ServerMetrics::Endpoint endpoint,
                       std::string body) = 0;

 protected:
  ~ConnectionHost() = default;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `host` must outlive this object.
  Connection(ConnectionHost& host, boost::asio::ip::tcp::socket socket);
  ~Connection() { host_.remove(this); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  // Instead of start(): answers a connection above the limit with a refusal.
  void refuse();
  // Server shutdown: closes an idle connection.
  void stop();
  void respond(Reply reply);

 private:
  using Clock = std::chrono::steady_clock;
  using error_code = boost::system::error_code;

  void await_request();
  void read_header();
  void header_read();
  void read_body();
  bool hold_request();
  void request_read();
  void read_failed(const error_code& error);
  void refuse_rest(Reply reply);
  void written(const error_code& error, std::size_t bytes);
  void log(double seconds, std::size_t bytes_out);
  void drain();
  void limit_time(Clock::duration time);
  void watch();
  void close();

  ConnectionHost& host_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  boost::beast::http::response<ReplyBody> response_;
  HeldBytes request_held_, answer_held_;
  Route route_;
  std::string client_;        // address and port; empty without a log
  std::size_t bytes_in_ = 0;  // bytes read of the request
  std::size_t rows_ = 0;
  std::string model_;
  Clock::time_point asked_;                 // arrival of the complete request
  std::optional<Clock::time_point> limit_;  // of the pending operation
  bool timer_set_ = false;
  bool late_ = false;
  bool idle_ = false;
  bool unread_ = false;  // the client may still be sending unread data
};

}  // namespace slide::serve
