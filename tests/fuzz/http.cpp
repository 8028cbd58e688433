// Fuzz target: the bytes of a client, in one piece and in several: both get equal answers, complete ones that
// are not server errors.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <nlohmann/json.hpp>

#include "engine/serve/connection.h"
#include "engine/serve/predict_api.h"
#include "engine/serve/similar_api.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/served_models.h"

namespace slide::fuzz {
namespace {

namespace http = boost::beast::http;
using serve::Connection;
using serve::Reply;

// Answers as the server does, on one thread.
class Host final : public serve::ConnectionHost {
 public:
  explicit Host(boost::asio::io_context& io) : io_(io) {}

  const Limits& limits() const override { return limits_; }
  const serve::HostCheck& hosts() const override { return hosts_; }
  serve::ByteBudget& waiting() override { return waiting_; }
  bool stopping() const override { return false; }
  serve::ServerMetrics& metrics() override { return metrics_; }
  bool logs() const override { return false; }
  void log(const serve::Access&) override {}
  void add(Connection*) override { ++connections; }
  void remove(Connection*) override { --connections; }
  Reply health() const override { return {.body = std::string("{}")}; }
  Reply metrics_reply() const override {
    return {.body = metrics_.text(*served_models()[0], waiting_), .type = "text/plain"};
  }
  Reply ready() const override { return health(); }
  void predict(std::shared_ptr<Connection> connection, serve::ServerMetrics::Endpoint endpoint,
               std::string body) override {
    boost::asio::post(io_, [connection = std::move(connection), reply = answer(endpoint, body)]() mutable {
      connection->respond(std::move(reply));
    });
  }

  int connections = 0;

 private:
  static Reply answer(serve::ServerMetrics::Endpoint endpoint, const std::string& body) {
    try {
      const serve::ServedModel& model = *served_models()[0];
      return {.body = endpoint == serve::ServerMetrics::Endpoint::kSimilar
                          ? serve::answer_similar(body, model).text
                          : serve::answer_predict(body, model, 2).text};
    } catch (const InputError& error) {
      return serve::failure(http::status::bad_request, error.what());
    }
  }

  boost::asio::io_context& io_;
  const serve::HostCheck hosts_{"127.0.0.1", {"here"}};
  serve::ByteBudget waiting_{1 << 20};
  Limits limits_ = {4096, std::chrono::seconds(60), std::chrono::seconds(60)};
  serve::ServerMetrics metrics_;
};

// A connection and its client's end.
class Exchange {
 public:
  Exchange() : host_(io_) {
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0, "a connection can be made");
    client_ = ends[0];
    boost::asio::ip::tcp::socket socket(io_);
    socket.assign(boost::asio::ip::tcp::v4(), ends[1]);
    std::make_shared<Connection>(host_, std::move(socket))->start();
  }
  ~Exchange() { close(client_); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // The answers to `bytes`, sent in pieces of `piece` bytes.
  std::string send(std::string_view bytes, std::size_t piece) {
    while (!bytes.empty() && host_.connections > 0) {
      const ssize_t sent = ::send(client_, bytes.data(), std::min(piece, bytes.size()), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN) break;  // the server has closed
      bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
      work();
    }
    shutdown(client_, SHUT_WR);
    work();
    check(host_.connections == 0, "a connection ends with its client");
    return std::move(received_);
  }

 private:
  void work() {
    for (bool more = true; more;) {
      io_.restart();
      more = io_.poll() > 0;
      char buffer[16384];
      for (ssize_t got = 0; (got = recv(client_, buffer, sizeof buffer, 0)) > 0; more = true)
        received_.append(buffer, static_cast<std::size_t>(got));
    }
  }

  boost::asio::io_context io_{1};
  Host host_;
  int client_ = -1;
  std::string received_;
};

std::string_view field_of(std::string_view header, std::string_view name) {
  const std::size_t at = header.find(name);
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + name.size());
  return header.substr(0, header.find("\r\n"));
}

// Removes the first answer; returns its status.
unsigned take_answer(std::string_view& answers) {
  const std::size_t end = answers.find("\r\n\r\n");
  check(answers.starts_with("HTTP/1.1 ") && end != std::string_view::npos, "an answer has a whole header");
  const std::string header(answers.substr(0, end + 2));
  answers.remove_prefix(end + 4);
  const auto status = static_cast<unsigned>(std::stoul(header.substr(9, 3)));
  check(status != 500, "the server does not fail");
  if (status == 100) return status;
  const std::size_t length = std::stoul("0" + std::string(field_of(header, "Content-Length: ")));
  const bool head = length > 0 && (answers.empty() || answers.starts_with("HTTP/1.1 "));  // no body follows
  if (head) return status;
  check(answers.size() >= length, "an answer is whole");
  const std::string_view body = answers.substr(0, length);
  if (field_of(header, "Content-Type: ") == "application/json")
    check(nlohmann::json::accept(body), "an answer is JSON");
  answers.remove_prefix(length);
  return status;
}

std::vector<unsigned> exchange(std::string_view bytes, std::size_t piece) {
  const std::string received = Exchange().send(bytes, piece);
  std::vector<unsigned> statuses;
  for (std::string_view rest = received; !rest.empty();) statuses.push_back(take_answer(rest));
  return statuses;
}

// Equal except for a final answer that says the input is not HTTP: whether the parser sees that before the
// client leaves depends on the pieces.
bool are_same(std::vector<unsigned> a, std::vector<unsigned> b) {
  if (a.size() < b.size()) std::swap(a, b);
  if (a.size() == b.size() + 1 && a.back() == 400) a.pop_back();
  return a == b;
}

}  // namespace
}  // namespace slide::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slide::fuzz;
  const std::string_view bytes = text_of(data, size);
  const auto whole = exchange(bytes, bytes.size());
  check(are_same(whole, exchange(bytes, bytes.size() / 8 + 1)), "pieces are answered as the whole is");
  return 0;
}
