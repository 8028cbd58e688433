// The socket that a server listens on: binds it and takes connections from it. Runs on the thread of its
// io_context. Internal to the server.
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
  // Whether it can take another.
  using Take = std::function<bool(boost::asio::ip::tcp::socket)>;

  // Binds the address and listens. Throws InputError when `host` is no address or it is taken.
  Listener(boost::asio::io_context& io, const std::string& host, std::uint16_t port);

  // http://127.0.0.1:8080
  std::string url() const;
  // From now on `take` gets every connection. Where it can take no more, they wait in the system's queue.
  void start(Take take);
  // `take` can take another again, or something was thrown; does nothing where it always could.
  void go_on();
  // `take` gets the connections that clients have opened by now; then there are no more.
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
