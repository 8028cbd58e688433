// Listening socket of the server: binds it and accepts connections. Runs on the thread of its io_context.
// Internal to the server.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <string>

namespace slide::serve {

class Listener {
 public:
  // Takes a connection; returns whether there is room for another.
  using Take = std::function<bool(boost::asio::ip::tcp::socket)>;

  // Binds the address and listens. Throws InputError where `host` is not an address or the address is in use.
  Listener(boost::asio::io_context& io, const std::string& host, std::uint16_t port);

  // e.g. http://127.0.0.1:8080
  std::string url() const;
  // Starts passing every connection to `take`. While it has no room, connections wait in the system's queue.
  void start(Take take);
  // Resumes accepting after `take` has room again or an exception was thrown; otherwise no effect.
  void go_on();
  // Passes the connections that are already open to `take`, then stops accepting.
  void stop();

 private:
  void listen(const std::string& host, std::uint16_t port);
  void accept();
  void pause();

  boost::asio::io_context& io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  Take take_;
  bool waiting_ = false, full_ = false, stopped_ = false;
};

}  // namespace slide::serve
