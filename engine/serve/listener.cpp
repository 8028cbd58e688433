#include "engine/serve/listener.h"

#include <chrono>
#include <utility>

#include "engine/base/error.h"

namespace slide::serve {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr int kBacklog = 1024;
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

}  // namespace

Listener::Listener(asio::io_context& io, const std::string& host, std::uint16_t port)
    : io_(io), acceptor_(io), pause_(io) {
  listen(host, port);
}

// Resolves the host and binds its first address.
void Listener::listen(const std::string& host, std::uint16_t port) {
  if (host.empty()) fail_input("--host is empty; try 127.0.0.1");
  error_code error;
  tcp::resolver resolver(io_);
  const auto found = resolver.resolve(host, std::to_string(port),
                                      tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty())
    fail_input("--host {}: no such address ({}); try 127.0.0.1", host, error.message());
  const tcp::endpoint at = found.begin()->endpoint();
  acceptor_.open(at.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(at, error);
  if (!error) acceptor_.listen(kBacklog, error);
  if (error) {
    fail_input("cannot listen on {} port {} ({}); give another --host or --port", host, port,
               error.message());
  }
}

std::string Listener::url() const {
  const tcp::endpoint at = acceptor_.local_endpoint();
  const std::string address = at.address().to_string();
  return at.address().is_v6() ? fmt::format("http://[{}]:{}", address, at.port())
                              : fmt::format("http://{}:{}", address, at.port());
}

void Listener::start(Take take) {
  take_ = std::move(take);
  accept();
}

// After an exception here, go_on() retries.
void Listener::accept() {
  if (waiting_) return;
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    waiting_ = false;
    if (stopped_ || error == asio::error::operation_aborted) return;
    if (error) return pause();
    full_ = !take_(std::move(socket));
    if (!full_ && !stopped_) accept();
  });
  waiting_ = true;
}

// Waits when file descriptors are exhausted.
void Listener::pause() {
  pause_.expires_after(kAcceptPause);
  pause_.async_wait([this](const error_code& cancelled) {
    waiting_ = false;
    if (!cancelled && !stopped_) accept();
  });
  waiting_ = true;
}

void Listener::go_on() {
  full_ = false;
  if (!waiting_ && !stopped_) accept();
}

// Accepts the connections that already wait, then closes.
void Listener::stop() {
  pause_.cancel();
  error_code error;
  acceptor_.non_blocking(true, error);
  while (!error) {
    tcp::socket socket(io_);
    acceptor_.accept(socket, error);
    if (!error) take_(std::move(socket));
  }
  stopped_ = true;
  acceptor_.close(error);
}

}  // namespace slide::serve
