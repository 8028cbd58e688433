// A server under test in a child process, and a client that can also be slow, partial and wrong. Not
// thread-safe: one Client per thread.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/program.h"

namespace slide::test {

using Json = nlohmann::json;

struct Answer {
  unsigned code = 0;
  std::string body;
  std::string retry_after, allow, connection, type;

  Json json() const { return Json::parse(body); }
};

class Client {
 public:
  // `receive_bytes`, if given: what the system buffers for it.
  explicit Client(unsigned short port, int receive_bytes = 0) : socket_(io(), boost::asio::ip::tcp::v4()) {
    if (receive_bytes > 0) socket_.set_option(boost::asio::socket_base::receive_buffer_size(receive_bytes));
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    socket_.set_option(boost::asio::ip::tcp::no_delay(true));
  }

  void send(const std::string& bytes) { boost::asio::write(socket_, boost::asio::buffer(bytes)); }

  // Receives the next answer. Throws where the connection ends before.
  Answer receive(bool head = false) {
    namespace http = boost::beast::http;
    http::response_parser<http::string_body> parser;
    parser.skip(head);  // no body follows, whatever the header says
    http::read(socket_, buffer_, parser);
    const auto& response = parser.get();
    const auto field = [&](http::field name) {
      const auto value = response[name];
      return std::string(value.data(), value.size());
    };
    return {response.result_int(),           response.body(),
            field(http::field::retry_after), field(http::field::allow),
            field(http::field::connection),  field(http::field::content_type)};
  }

  Answer ask(const std::string& method, const std::string& target, const std::string& body = "",
             const std::string& more = "") {
    send(text_of(method, target, body, more));
    return receive(method == "HEAD");
  }
  Answer predict(const Json& request) { return ask("POST", "/predict", request.dump()); }

  // All bytes until the server closes the connection. Throws on a reset.
  std::string receive_all() {
    std::string bytes;
    char some[4096];
    boost::system::error_code error;
    while (const std::size_t count = socket_.read_some(boost::asio::buffer(some), error))
      bytes.append(some, count);
    if (error != boost::asio::error::eof) throw boost::system::system_error(error);
    return bytes;
  }

  void end() { socket_.close(); }
  // Receives what the server sends within `milliseconds`; possibly a part.
  void listen(int milliseconds) {
    char some[4096];
    boost::system::error_code ignored;
    pollfd ready{socket_.native_handle(), POLLIN, 0};
    if (poll(&ready, 1, milliseconds) > 0) socket_.read_some(boost::asio::buffer(some), ignored);
  }
  // Destruction resets the connection.
  void reset_at_end() { socket_.set_option(boost::asio::socket_base::linger(true, 0)); }

  // Whether the server sends anything, or closes the connection, within `milliseconds`.
  bool hears(int milliseconds) {
    pollfd ready{socket_.native_handle(), POLLIN, 0};
    return poll(&ready, 1, milliseconds) > 0;
  }

  // Whether the server closes the connection without sending anything.
  bool is_closed() {
    char byte = 0;
    boost::system::error_code error;
    return socket_.read_some(boost::asio::buffer(&byte, 1), error) == 0 && error;
  }

  static std::string text_of(const std::string& method, const std::string& target, const std::string& body,
                             const std::string& more = "") {
    return method + " " + target +
           " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more +
           "\r\n" + body;
  }

 private:
  // One for all clients: each takes three descriptors.
  static boost::asio::io_context& io() {
    static boost::asio::io_context one;
    return one;
  }

  boost::asio::ip::tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
};

// 'slide serve' in `folder` on a free port; ready after construction.
class ServerProcess {
 public:
  // `files`, if given: its limit of open files.
  ServerProcess(const std::string& folder, std::vector<std::string> arguments, rlim_t files = 0)
      : errors_(folder + "/serve.err") {
    int out[2];
    if (pipe(out) != 0) throw std::runtime_error("no pipe");
    arguments.insert(arguments.begin(), {SLIDE_BINARY, "serve"});
    arguments.insert(arguments.end(), {"--port", "0"});
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      const int errors = open(errors_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (chdir(folder.c_str()) != 0 || dup2(out[1], 1) < 0 || dup2(errors, 2) < 0) _exit(99);
      close(out[0]);
      close(out[1]);
      const rlimit limit = {files, files};
      if (files > 0 && setrlimit(RLIMIT_NOFILE, &limit) != 0) _exit(97);
      execv(SLIDE_BINARY, pointers.data());
      _exit(98);
    }
    close(out[1]);
    output_ = out[0];
    std::string line = output_line();
    if (line.starts_with("{"))  // --log-format json
      line = "listening on " + Json::parse(line)["message"].get<std::string>();
    const std::string start = "listening on http://127.0.0.1:";
    if (!line.starts_with(start)) throw std::runtime_error("no server: '" + line + "' " + errors());
    port_ = static_cast<unsigned short>(std::stoi(line.substr(start.size())));
  }
  ~ServerProcess() {
    close_output();
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  unsigned short port() const { return port_; }
  Client client() const { return Client(port_); }
  void signal(int number) const { kill(pid_, number); }
  // Number of its threads that do not block this signal.
  int threads_that_take(int number) const {
    int threads = 0;
    for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid_))) {
      const std::string status = read_file(task.path() / "status");
      const std::string field = "\nSigBlk:";
      const std::size_t at = status.find(field);
      if (at == std::string::npos) continue;  // it has just ended
      const unsigned long long blocked = std::stoull(status.substr(at + field.size()), nullptr, 16);
      threads += (blocked >> (number - 1) & 1) == 0;
    }
    return threads;
  }
  // The next line of its standard output.
  std::string output_line() const {
    std::string line;
    for (char c = 0; read(output_, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  void close_output() {
    if (output_ >= 0) close(output_);
    output_ = -1;
  }
  std::string errors() const { return read_file(errors_); }
  bool runs() const {
    siginfo_t ended{};
    return waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0;
  }

  // The exit code, 128 + signal when killed.
  int wait() { return wait_for(std::exchange(pid_, 0)); }
  int stop() {
    signal(SIGTERM);
    return wait();
  }

  // The value of a metric by its name with labels; -1 where absent.
  double metric(const std::string& name) const {
    const std::string text = "\n" + client().ask("GET", "/metrics").body;
    const std::size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
  }

 private:
  std::string errors_;
  pid_t pid_ = 0;
  int output_ = -1;
  unsigned short port_ = 0;
};

}  // namespace slide::test
