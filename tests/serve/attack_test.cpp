// A server under attack: among malformed, huge, slow and abandoned requests, and while models change, every
// well-formed request gets the correct answer. SLIDE_ATTACK_REQUESTS sets the number of requests of a longer
// campaign; scripts/attack.sh does that.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <thread>

#include "tests/sanitizers.h"
#include "tests/serve/serve_fixture.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;
using Random = std::mt19937_64;

constexpr const char* kHead = "POST /predict HTTP/1.1\r\nHost: localhost\r\n";

std::string garbage(Random& random) {
  std::string bytes(random() % 3000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes + "\r\n\r\n";
}

// One of the malformed requests.
std::string hostile(Random& random) {
  const std::string inner = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", head = kHead;
  switch (random() % 14) {
    case 0:
      return garbage(random);
    case 1:
      return head + "Transfer-Encoding: xchunked\r\n\r\n" + inner;
    case 2:
      return head + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n" + inner;
    case 3:
      return head + "Content-Length: 4\r\nContent-Length: 5\r\n\r\n" + inner;
    case 4:
      return head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n" + inner;
    case 5:
      return head + "Transfer-Encoding: chunked\r\n\r\n5;" + std::string(100000, 'x');
    case 6:
      return head + "X: " + std::string(40000, 'x');
    case 7:
      return Client::text_of("POST", "/predict", std::string(500000, '['));
    case 8:
      return Client::text_of("POST", "/predict", std::string(1500000, ' '));
    case 9:
      return Client::text_of("POST", "/predict", "{\"features\": {\"3\": 1e999}, \"k\": -1}");
    case 10:
      return head + "Content-Length: 400\r\n\r\n{\"features\"";  // incomplete
    case 11:
      return "POST /pre";
    case 12:
      return Client::text_of("DELETE", "/predict", garbage(random));
    default: {
      std::string many;
      for (int i = 0; i < 50; ++i) many += inner;
      return many;
    }
  }
}

class AttackTest : public ServeTest {
 protected:
  static std::size_t requests() {
    const char* text = std::getenv("SLIDE_ATTACK_REQUESTS");
    return text == nullptr ? kSanitized ? 1000 : 6000 : std::strtoull(text, nullptr, 10);
  }
  static double resident_mb(const ServerProcess& server) {
    return server.metric("process_resident_memory_bytes") / 1048576.0;
  }
  // The requests, and each model's answers to them without disturbance.
  void prepare() {
    for (const std::string& line : lines())
      bodies_.push_back(Json{{"features", features_of(line)}, {"k", 3}}.dump());
    for (const std::string model : {"ids", "other"}) {
      const ServerProcess server = serve(model);
      Client client = server.client();
      for (const std::string& body : bodies_) {
        const Answer answer = client.ask("POST", "/predict", body);
        right_[answer.json()["model"]].push_back(answer.body);
      }
    }
    ASSERT_EQ(right_.size(), 2u);
  }
  // Sends requests until all threads together have sent `count`.
  void ask(const ServerProcess& server, std::size_t count, unsigned seed) {
    Random random(seed);
    std::optional<Client> client;
    while (asked_.fetch_add(1) < count) {
      const std::size_t which = random() % bodies_.size();
      try {
        if (!client || random() % 50 == 0) client.emplace(server.port());
        const Answer answer = client->ask("POST", "/predict", bodies_[which]);
        const auto right = answer.code == 200 ? right_.find(answer.json()["model"]) : right_.end();
        if (right == right_.end() || answer.body != right->second[which]) ++wrong_;
      } catch (const std::exception&) {
        ++lost_;
        client.reset();
      }
    }
  }
  void attack(const ServerProcess& server, unsigned seed) {
    Random random(seed);
    while (!done_) {
      try {
        Client client = server.client();
        client.send(hostile(random));
        if (random() % 2 == 0) client.reset_at_end();
        if (random() % 4 != 0) client.listen(static_cast<int>(random() % 20));
      } catch (const boost::system::system_error&) {
        // correctly refused
      }
      ++attacks_;
    }
  }
  // Changes, damages, truncates and removes the model, with signals in between.
  void change(const ServerProcess& server, const std::string& served) {
    for (std::size_t round = 0; !done_; ++round) {
      const std::string next = served + ".next";
      fs::copy_file(slide_->path(round % 2 == 0 ? "other/model.slide" : "ids/model.slide"), next,
                    fs::copy_options::overwrite_existing);
      if (round % 5 == 1) fs::resize_file(next, fs::file_size(next) / 2);
      if (round % 5 == 2) write_file(next, "this is no model");
      if (round % 5 == 3) {
        fs::remove(served);
        server.signal(SIGHUP);
      }
      if (round % 4 == 0) {  // incorrectly updated in place: truncated and rewritten during a load
        write_file(served, read_file(next));
        server.signal(SIGHUP);
        fs::resize_file(served, 0);
      }
      fs::rename(next, served);
      for (std::size_t times = 0; times < 1 + round % 3; ++times) server.signal(SIGHUP);
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
  }

  std::vector<std::string> bodies_;
  std::map<std::string, std::vector<std::string>> right_;
  std::atomic<std::size_t> asked_ = 0, wrong_ = 0, lost_ = 0, attacks_ = 0;
  std::atomic<bool> done_ = false;
};

TEST_F(AttackTest, EveryWellFormedRequestIsAnsweredRightly) {
  prepare();
  const std::string served = slide_->path("attacked/model.slide");
  fs::create_directories(slide_->path("attacked"));
  fs::copy_file(slide_->path("ids/model.slide"), served);
  ServerProcess server = serve("attacked", {"--threads", "2", "--timeout", "5", "--max-connections", "100"});
  const std::size_t count = requests();
  std::vector<std::thread> hands;
  for (unsigned i = 0; i < 3; ++i) hands.emplace_back([&, i] { attack(server, 100 + i); });
  hands.emplace_back([&] { change(server, served); });
  const auto ask_all = [&](std::size_t until) {
    std::vector<std::thread> askers;
    for (unsigned i = 0; i < 4; ++i) askers.emplace_back([&, i] { ask(server, until, i); });
    for (std::thread& asker : askers) asker.join();
    asked_ = until;
  };
  ask_all(count / 3);
  const double before = resident_mb(server);
  ask_all(count);
  done_ = true;
  for (std::thread& hand : hands) hand.join();
  const double after = resident_mb(server);
  std::printf("%zu requests among %zu attacks and %.0f reloads: %zu lost, %zu wrong; %.0f MB, then %.0f MB\n",
              count, attacks_.load(), server.metric("slide_reloads_total{result=\"done\"}"), lost_.load(),
              wrong_.load(), before, after);
  EXPECT_EQ(lost_, 0u);
  EXPECT_EQ(wrong_, 0u);
  EXPECT_GT(attacks_, 0u);
  EXPECT_GT(server.metric("slide_reloads_total{result=\"done\"}"), 0);
  EXPECT_GT(server.metric("slide_reloads_total{result=\"failed\"}"), 0);
  EXPECT_TRUE(wait_until([&] { return server.metric("slide_connections") == 1; }));
  EXPECT_EQ(server.metric("slide_requests_in_flight"), 0);
  if (!kSanitized) {
    EXPECT_LT(after, before * 1.25 + 16);
  }
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

// Over many rounds, truncation hits every moment of a load.
TEST_F(AttackTest, AModelThatIsCutWhileItLoadsEndsNothing) {
  const std::string served = slide_->path("cut/model.slide"),
                    whole = read_file(slide_->path("ids/model.slide"));
  fs::create_directories(slide_->path("cut"));
  write_file(served, whole);
  ServerProcess server = serve("cut");
  for (int round = 0; round < 600; ++round) {
    write_file(served, whole);
    server.signal(SIGHUP);
    std::this_thread::sleep_for(std::chrono::microseconds(round));
    fs::resize_file(served, 0);
  }
  EXPECT_EQ(server.client().predict({{"features", {{"3", 1}}}}).code, 200u);
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(AttackTest, AThousandAtOnceAreAnsweredOrTold) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  setrlimit(RLIMIT_NOFILE, &files);
  ServerProcess server = serve("ids", {"--max-connections", "300", "--max-queue", "1000"});
  const std::string request = Client::text_of("POST", "/predict", R"({"features": {"3": 1}})");
  std::deque<Client> clients;
  for (int c = 0; c < 1000; ++c) {
    clients.emplace_back(server.port());
    clients.back().send(request);
  }
  std::size_t answered = 0, told = 0;
  for (Client& client : clients) {
    const Answer answer = client.receive();  // throws on a connection reset
    if (answer.code == 200) ++answered;
    if (answer.code == 503 && answer.connection == "close") ++told;
    client.end();
  }
  EXPECT_GE(answered, 300u);
  EXPECT_EQ(answered + told, 1000u);
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(AttackTest, ManyOneAfterTheOtherLeaveNothing) {
  const int count = kSanitized ? 1000 : 10000;
  ServerProcess server = serve("ids", {"--max-connections", "50"});
  double before = 0;
  for (int c = 0; c < count; ++c) {
    ASSERT_EQ(server.client().ask("GET", "/health").code, 200u) << c;
    if (c == count / 4) before = resident_mb(server);
  }
  EXPECT_TRUE(wait_until([&] { return server.metric("slide_connections") == 1; }));
  if (!kSanitized) {
    EXPECT_LT(resident_mb(server), before + 8);
  }
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

}  // namespace
}  // namespace slide::test
