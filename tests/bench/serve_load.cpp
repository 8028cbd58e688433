// Load generator for 'slide serve': sends requests at a constant rate, independent of answers, and prints
// latencies measured from the scheduled time of each request, so that a stall of the server counts for all
// requests scheduled during it.
//
// usage: serve_load PORT DATA [RATE [SECONDS [CONNECTIONS]]]
// DATA has lines of plain text, or XMC or libsvm samples, whose features are sent. The first seconds are not
// counted: connections open and caches fill.
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;

constexpr double kWarmUp = 2.0;  // seconds
constexpr std::size_t kMaxBodies = 5000;

// The JSON body for a line of the data; empty where the line has no request.
std::string body_of(const std::string& line, bool first) {
  if (line.empty()) return "";
  if (line.find(':') == std::string::npos)
    return first && line.find_first_not_of("0123456789 ") == std::string::npos
               ? ""  // the header of an XMC file
               : nlohmann::json{{"text", line}}.dump();
  nlohmann::json features = nlohmann::json::object();
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string word = line.substr(begin, end - begin);
    const std::size_t colon = word.find(':');
    char* rest = nullptr;
    if (colon != std::string::npos) {
      const double value = std::strtod(word.c_str() + colon + 1, &rest);
      if (*rest != '\0') return nlohmann::json{{"text", line}}.dump();
      features[word.substr(0, colon)] = value;
    }
    begin = end + 1;
  }
  return nlohmann::json{{"features", features}}.dump();
}

std::vector<std::string> read_bodies(const std::string& path) {
  std::vector<std::string> bodies;
  std::ifstream file(path);
  bool first = true;
  for (std::string line; bodies.size() < kMaxBodies && std::getline(file, line); first = false) {
    std::string body = body_of(line, first);
    if (!body.empty()) bodies.push_back(std::move(body));
  }
  return bodies;
}

struct Tally {
  std::vector<double> milliseconds;
  std::map<unsigned, std::size_t> codes;
  std::size_t broken = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(asio::io_context& io, tcp::endpoint server, Tally& tally) : socket_(io), tally_(tally) {
    socket_.connect(server);
    socket_.set_option(tcp::no_delay(true));
  }
  template <class Done>
  void ask(const std::string& body, Clock::time_point due, bool counts, Done done) {
    request_ = {http::verb::post, "/predict", 11};
    request_.set(http::field::host, "127.0.0.1");
    request_.set(http::field::content_type, "application/json");
    request_.body() = body;
    request_.prepare_payload();
    http::async_write(socket_, request_, [=, self = shared_from_this()](auto error, std::size_t) {
      if (error) return self->finish(error, due, counts, done);
      self->response_ = {};
      http::async_read(self->socket_, self->buffer_, self->response_,
                       [=](auto failed, std::size_t) { self->finish(failed, due, counts, done); });
    });
  }

 private:
  template <class Done>
  void finish(const boost::system::error_code& error, Clock::time_point due, bool counts, Done done) {
    if (error) {
      ++tally_.broken;
      return;
    }
    if (counts) {
      ++tally_.codes[response_.result_int()];
      tally_.milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - due).count());
    }
    done(shared_from_this());
  }

  tcp::socket socket_;
  Tally& tally_;
  boost::beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

class Load {
 public:
  Load(tcp::endpoint server, std::vector<std::string> bodies, double rate, double seconds,
       std::size_t connections)
      : bodies_(std::move(bodies)),
        period_(1.0 / rate),
        total_(static_cast<std::size_t>(rate * (kWarmUp + seconds))),
        warm_up_(static_cast<std::size_t>(rate * kWarmUp)),
        timer_(io_),
        start_(Clock::now()) {
    for (std::size_t c = 0; c < connections; ++c)
      idle_.push_back(std::make_shared<Connection>(io_, server, tally_));
  }

  const Tally& run() {
    tick();
    io_.run();
    return tally_;
  }

 private:
  Clock::time_point due(std::size_t request) const {
    return start_ + std::chrono::duration_cast<Clock::duration>(
                        std::chrono::duration<double>(double(request) * period_));
  }

  // Sends all due requests while there are idle connections; other due requests wait, and their latency
  // grows.
  void tick() {
    while (next_ < total_ && !idle_.empty() && due(next_) <= Clock::now()) {
      const auto connection = idle_.front();
      idle_.pop_front();
      connection->ask(bodies_[next_ % bodies_.size()], due(next_), next_ >= warm_up_, [this](auto free) {
        idle_.push_back(free);
        if (next_ < total_ && due(next_) <= Clock::now()) tick();
      });
      ++next_;
    }
    if (next_ >= total_ || idle_.empty()) {
      if (next_ < total_) wait(Clock::now() + std::chrono::milliseconds(1));
      return;
    }
    wait(due(next_));
  }

  void wait(Clock::time_point until) {
    timer_.expires_at(until);
    timer_.async_wait([this](auto error) {
      if (!error) tick();
    });
  }

  asio::io_context io_{1};
  std::vector<std::string> bodies_;
  double period_;
  std::size_t total_, warm_up_, next_ = 0;
  asio::steady_timer timer_;
  Clock::time_point start_;
  Tally tally_;
  std::deque<std::shared_ptr<Connection>> idle_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 6) {
    std::fprintf(stderr, "usage: serve_load PORT DATA [RATE [SECONDS [CONNECTIONS]]]\n");
    return 2;
  }
  const auto number = [&](int at, double otherwise) { return argc > at ? std::atof(argv[at]) : otherwise; };
  const double rate = number(3, 1000), seconds = number(4, 20), connections = number(5, 16);
  std::vector<std::string> bodies = read_bodies(argv[2]);
  if (bodies.empty() || rate <= 0 || seconds <= 0 || connections < 1) {
    std::fprintf(stderr, "serve_load: no samples in %s, or a number that is not above 0\n", argv[2]);
    return 2;
  }
  try {
    const tcp::endpoint server(asio::ip::address_v4::loopback(),
                               static_cast<unsigned short>(std::atoi(argv[1])));
    Load load(server, std::move(bodies), rate, seconds, static_cast<std::size_t>(connections));
    Tally tally = load.run();
    std::vector<double>& times = tally.milliseconds;
    if (times.empty()) {
      std::fprintf(stderr, "serve_load: no answers\n");
      return 1;
    }
    std::sort(times.begin(), times.end());
    const auto quantile = [&](double q) {
      return times[std::min(times.size() - 1, static_cast<std::size_t>(std::ceil(q * double(times.size()))))];
    };
    std::printf("%zu answers at %.0f a second on %.0f connections:", times.size(), rate, connections);
    for (const auto& [code, count] : tally.codes) std::printf(" %zu with %u", count, code);
    std::printf(", %zu connections broken\n", tally.broken);
    std::printf("ms: p50 %.2f  p90 %.2f  p99 %.2f  p99.9 %.2f  max %.2f\n", quantile(0.5), quantile(0.9),
                quantile(0.99), quantile(0.999), times.back());
    return tally.broken == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "serve_load: %s\n", error.what());
    return 1;
  }
}
