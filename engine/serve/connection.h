// One connection: reads a request, has it answered, and so on. What a client can take is bounded: bytes of
// header and body, and the time that a request may take to arrive and its answer to be taken. Lives as long
// as something is under way for it, on the thread of its socket. Internal to the server.
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
#include "engine/serve/http_reply.h"
#include "engine/serve/server_metrics.h"

namespace slide::serve {

class Connection;

// What a connection needs of its server.
class ConnectionHost {
 public:
  struct Limits {
    std::size_t body = 0;                           // bytes
    std::chrono::steady_clock::duration timeout{};  // for a request to arrive, and for its answer to be taken
    std::chrono::steady_clock::duration idle_time{};
  };

  virtual const Limits& limits() const = 0;
  virtual bool stopping() const = 0;
  virtual ServerMetrics& metrics() = 0;
  virtual bool logs() const = 0;  // whether log() is to be called
  virtual void log(const Access& access) = 0;
  virtual void add(Connection* connection) = 0;     // it begins
  virtual void remove(Connection* connection) = 0;  // it ends
  virtual Reply health() const = 0;
  virtual Reply metrics_reply() const = 0;
  // Has `body` answered, and connection->respond() called with the answer.
  virtual void predict(std::shared_ptr<Connection> connection, std::string body) = 0;

 protected:
  ~ConnectionHost() = default;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `host` must outlive it.
  Connection(ConnectionHost& host, boost::asio::ip::tcp::socket socket);
  ~Connection() { host_.remove(this); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  // Answers a connection beyond the bound, in place of start().
  void refuse();
  // The server stops: nothing more is awaited from an idle client.
  void stop();
  void respond(Reply reply);

 private:
  using Clock = std::chrono::steady_clock;
  using error_code = boost::system::error_code;

  void await_request();
  void read_header();
  void header_read();
  void read_body();
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
  boost::beast::http::response<boost::beast::http::string_body> response_;
  Route route_;
  std::string client_;        // address and port; empty without a log
  std::size_t bytes_in_ = 0;  // read of the request
  std::size_t rows_ = 0;
  std::string model_;
  Clock::time_point asked_;                 // when the request was there
  std::optional<Clock::time_point> limit_;  // of what is under way
  bool timer_set_ = false;
  bool late_ = false;
  bool idle_ = false;
  bool unread_ = false;  // the client may still be sending what is not read
};

}  // namespace slide::serve
