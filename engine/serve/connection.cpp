#include "engine/serve/connection.h"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <iterator>
#include <string_view>
#include <utility>

#include "engine/base/phases.h"

namespace slide::serve {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Endpoint = ServerMetrics::Endpoint;

namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::size_t kMaxHeader = 16384;
constexpr std::size_t kMaxFields = 128, kFieldBytes = 64;  // header fields; bytes per field besides its text
constexpr std::size_t kOwnBytes = 16384;                   // of a request that are not counted
constexpr std::size_t kReadBytes = 8192;
constexpr std::size_t kMaxBuffer = 65536;  // holds a whole header, chunk extensions or the trailer
constexpr auto kDrainTime = std::chrono::seconds(1);

// Address and port of the client.
std::string client_of(const tcp::socket& socket) {
  boost::system::error_code ignored;
  const tcp::endpoint peer = socket.remote_endpoint(ignored);
  const std::string address = peer.address().to_string();
  return peer.address().is_v6() ? fmt::format("[{}]:{}", address, peer.port())
                                : fmt::format("{}:{}", address, peer.port());
}

}  // namespace

Connection::Connection(ConnectionHost& host, tcp::socket socket)
    : host_(host),
      socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      buffer_(kMaxBuffer),
      request_held_(host.waiting(), kOwnBytes) {
  if (host_.logs()) client_ = client_of(socket_);
  host_.add(this);  // last: an exception before it needs no removal
}

void Connection::start() {
  error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  await_request();
}

void Connection::refuse() {
  refuse_rest(failure(http::status::service_unavailable, "too many connections; try again later"));
}

void Connection::stop() {
  error_code ignored;
  if (idle_ && socket_.available(ignored) == 0) close();
}

// Starts to write a reply. The connection stays open only after a whole request: unread bytes of its body
// would be taken for the next one.
void Connection::respond(Reply reply) {
  const bool head = parser_ && parser_->get().method() == http::verb::head;
  response_ = {};
  response_.version(11);
  response_.result(reply.status);
  response_.set(http::field::server, "slide");
  response_.set(http::field::date, date_text());
  response_.set(http::field::content_type, reply.type);
  if (reply.allow != nullptr) response_.set(http::field::allow, reply.allow);
  if (reply.status == http::status::service_unavailable) response_.set(http::field::retry_after, "1");
  const bool has_whole_request = !unread_ && parser_ && parser_->is_done();
  response_.keep_alive(has_whole_request && parser_->keep_alive() && !host_.stopping());
  response_.content_length(reply.body.size());
  answer_held_ = std::move(reply.held);
  if (!head) response_.body() = std::move(reply.body);
  if (parser_) std::string().swap(parser_->get().body());
  request_held_.set(buffer_.capacity());
  rows_ = reply.rows;
  model_ = std::move(reply.model);
  if (!has_whole_request) asked_ = Clock::now();
  limit_time(host_.limits().timeout);
  http::async_write(socket_, response_,
                    [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                      self->written(error, bytes);
                    });
}

// Waits for the first byte of the next request, for which a client may take longer than within a request.
void Connection::await_request() {
  route_ = {};
  bytes_in_ = 0;
  parser_.emplace();
  parser_->header_limit(kMaxHeader);
  parser_->body_limit(host_.limits().body);
  if (buffer_.capacity() > kReadBytes) buffer_.shrink_to_fit();
  request_held_.set(buffer_.capacity());
  if (buffer_.size() > 0) return read_header();
  error_code ignored;
  if (host_.stopping() && socket_.available(ignored) == 0) return close();
  idle_ = true;
  limit_time(host_.limits().idle_time);
  socket_.async_read_some(buffer_.prepare(kReadBytes),
                          [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                            self->idle_ = false;
                            if (error) return self->close();
                            self->buffer_.commit(bytes);
                            self->read_header();
                          });
}

void Connection::read_header() {
  limit_time(host_.limits().timeout);  // body included
  http::async_read_header(socket_, buffer_, *parser_,
                          [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                            self->bytes_in_ += bytes;
                            if (error) return self->read_failed(error);
                            self->header_read();
                          });
}

// Decides by the header: refuses the request before its body, invites the body (100 Continue), or reads it.
void Connection::header_read() {
  route_ = route_of(parser_->get());
  if (!hold_request()) return;
  if (std::optional<Reply> refusal = framing_refusal(parser_->get())) return refuse_rest(std::move(*refusal));
  if (std::optional<Reply> refusal = host_.hosts().refusal(parser_->get()))
    route_.refusal = std::move(*refusal);
  if (route_.refusal && !parser_->is_done()) return refuse_rest(std::move(*route_.refusal));
  if (!parser_->is_done() && parser_->get().version() >= 11 &&
      boost::beast::iequals(parser_->get()[http::field::expect], "100-continue")) {
    asio::async_write(socket_, asio::buffer(kContinue),
                      [self = shared_from_this()](const error_code& error, std::size_t) {
                        if (error) return self->close();
                        self->read_body();
                      });
    return;
  }
  read_body();
}

// Reads the body piece by piece, and checks the byte budget after each piece.
void Connection::read_body() {
  if (late_) return read_failed(asio::error::timed_out);
  if (parser_->is_done()) return request_read();
  parser_->eager(true);
  http::async_read_some(socket_, buffer_, *parser_,
                        [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                          self->bytes_in_ += bytes;
                          if (error) return self->read_failed(error);
                          if (self->hold_request()) self->read_body();
                        });
}

// Counts the memory of what has been read of the request; returns false where it is refused.
bool Connection::hold_request() {
  const auto& fields = parser_->get();
  const auto count = static_cast<std::size_t>(std::distance(fields.begin(), fields.end()));
  if (count > kMaxFields) {
    refuse_rest(failure(http::status::request_header_fields_too_large,
                        fmt::format("a request may have {} fields", kMaxFields)));
    return false;
  }
  const std::size_t text = parser_->chunked() ? 2 * bytes_in_ : bytes_in_;  // a body of unknown size doubles
  if (request_held_.try_set(buffer_.capacity() + text + count * kFieldBytes)) return true;
  ++host_.metrics().rejected;
  refuse_rest(failure(http::status::service_unavailable, NoRoom().what() + std::string("; try again later")));
  return false;
}

// Answers a whole request: a refusal, a page or status at once, predictions by a worker thread.
void Connection::request_read() {
  asked_ = Clock::now();
  limit_.reset();
  if (route_.refusal) return respond(std::move(*route_.refusal));
  switch (route_.endpoint) {
    case Endpoint::kHealth:
      return respond(host_.health());
    case Endpoint::kReady:
      return respond(host_.ready());
    case Endpoint::kPage:
      return respond(page_reply());
    case Endpoint::kMetrics:
      return respond(host_.metrics_reply());
    default:
      return host_.predict(shared_from_this(), route_.endpoint, std::move(parser_->get().body()));
  }
}

// Answers a request that could not be read (too late, too large, no HTTP) and refuses its rest; closes where
// the client is gone.
void Connection::read_failed(const error_code& error) {
  if (late_)
    return refuse_rest(failure(http::status::request_timeout, "the request took too long to arrive"));
  if (error == http::error::body_limit) {
    return refuse_rest(
        failure(http::status::payload_too_large,
                fmt::format("the body may have {} bytes; see --max-body", host_.limits().body)));
  }
  if (error == http::error::header_limit) {
    return refuse_rest(failure(http::status::request_header_fields_too_large,
                               fmt::format("the header may have {} bytes", kMaxHeader)));
  }
  if (error == http::error::buffer_overflow) {
    return refuse_rest(failure(http::status::request_header_fields_too_large,
                               "the lines between or after the chunks are too long; send data alone"));
  }
  const bool gone = error == http::error::end_of_stream || error == http::error::partial_message;
  if (!gone && error.category() == http::make_error_code(http::error::bad_method).category()) {
    return refuse_rest(
        failure(http::status::bad_request, fmt::format("this is no HTTP ({})", error.message())));
  }
  close();
}

void Connection::refuse_rest(Reply reply) {
  unread_ = true;
  respond(std::move(reply));
}

// Counts and logs an answer, then waits for the next request or closes.
void Connection::written(const error_code& error, std::size_t bytes) {
  limit_.reset();
  const double seconds = seconds_since(asked_);
  host_.metrics().add_request(route_.endpoint, response_.result_int(), seconds);
  if (host_.logs()) log(seconds, bytes);
  if (error) return close();
  response_.body() = {};
  answer_held_ = {};
  if (response_.keep_alive()) return await_request();
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  // Closing with unread bytes would reset the connection, and the client might never see the answer.
  limit_time(kDrainTime);
  drain();
}

void Connection::log(double seconds, std::size_t bytes_out) {
  Access access;
  access.client = client_;
  access.status = response_.result_int();
  access.bytes_in = bytes_in_;
  if (parser_) {
    const auto method = parser_->get().method_string();
    access.method = {method.data(), method.size()};
    access.path = target_of(parser_->get()).path;
  }
  access.bytes_out = bytes_out;
  access.rows = rows_;
  access.seconds = seconds;
  access.model = model_;
  host_.log(access);
}

void Connection::drain() {
  buffer_.clear();
  socket_.async_read_some(buffer_.prepare(kReadBytes),
                          [self = shared_from_this()](const error_code& error, std::size_t) {
                            if (error || self->late_) return self->close();
                            self->drain();
                          });
}

// Sets the deadline of the pending operation; beyond it the operation is cancelled and late_ set.
void Connection::limit_time(Clock::duration time) {
  late_ = false;
  limit_ = Clock::now() + time;
  if (!timer_set_ || timer_.expiry() > *limit_) watch();
}

// The timer is not reset for every request: when it fires before the deadline, it is set again.
void Connection::watch() {
  timer_set_ = true;
  timer_.expires_at(*limit_);
  timer_.async_wait([self = weak_from_this()](const error_code& error) {
    const auto connection = self.lock();
    if (error || connection == nullptr) return;
    connection->timer_set_ = false;
    if (!connection->limit_) return;
    if (Clock::now() < *connection->limit_) return connection->watch();
    connection->late_ = true;
    connection->limit_.reset();
    error_code ignored;
    connection->socket_.cancel(ignored);
  });
}

void Connection::close() {
  limit_.reset();
  timer_.cancel();
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace slide::serve
