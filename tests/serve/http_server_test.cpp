// Tests of 'slide serve' from outside: a process, a port, clients of all kinds, signals.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <filesystem>
#include <thread>

#include "tests/sanitizers.h"
#include "tests/serve/serve_fixture.h"

namespace slide::test {
namespace {

class HttpServerTest : public ServeTest {};

TEST_F(HttpServerTest, RequestsThatAreNoneOrTooLarge) {
  ServerProcess server = serve("text", {"--max-body", "1000"});
  const std::string large = R"({"text": ")" + std::string(2000, 'a') + "\"}";
  EXPECT_EQ(server.client().ask("POST", "/predict", large).code, 413u);
  Client chunked = server.client();
  chunked.send("POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" +
               std::string(2000, ' ') + "\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.receive().code, 413u);
  EXPECT_TRUE(chunked.is_closed());
  const std::string exact = R"({"text": ")" + std::string(1000 - 12, 'a') + "\"}";
  EXPECT_EQ(server.client().ask("POST", "/predict", exact).code, 200u);
  EXPECT_EQ(server.client().ask("GET", "/health", "", "X-Long: " + std::string(20000, 'x') + "\r\n").code,
            431u);
  Client garbage = server.client();
  garbage.send("\x16\x03\x01 what is this\r\n\r\n");
  EXPECT_EQ(garbage.receive().code, 400u);
  Client waiting = server.client();  // as curl does for larger bodies
  waiting.send(
      "POST /predict HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 17\r\n\r\n");
  EXPECT_EQ(waiting.receive().code, 100u);
  waiting.send(R"({"text": "choir"})");
  EXPECT_EQ(waiting.receive().code, 200u);
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

// The limits that the page states.
TEST_F(HttpServerTest, SizesAreBoundedWithoutAnOption) {
  ServerProcess server = serve("ids");
  const auto code = [&](std::size_t body, std::size_t header) {
    const std::string request = R"({"features": {"3": 1}})";
    return server.client()
        .ask("POST", "/predict", request + std::string(body - request.size(), ' '),
             "X: " + std::string(header, 'x') + "\r\n")
        .code;
  };
  EXPECT_EQ(code(1048576, 16000), 200u);
  EXPECT_EQ(code(1048577, 1), 413u);
  EXPECT_EQ(code(100, 16384), 431u);
  const std::string deep = R"({"features": )" + std::string(32, '[') + std::string(32, ']') + "}";
  const Answer refused = server.client().ask("POST", "/predict", deep);
  EXPECT_TRUE(contains(refused.body, "nested deeper than 32 values"));
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(HttpServerTest, MoreThanItCanTakeIsRefusedAtOnce) {
  ServerProcess server = serve("ids", {"--threads", "1", "--max-queue", "0"});
  Json heavy = {{"inputs", Json::array()}, {"k", 10}};
  for (int i = 0; i < 2000; ++i) heavy["inputs"].push_back({{"features", {{"1", 1}, {"2", 1}, {"3", 1}}}});
  std::deque<Client> clients;
  for (int c = 0; c < 4; ++c) clients.emplace_back(server.port());
  std::size_t done = 0, refused = 0;
  for (int round = 0; round < 1000 && (done == 0 || refused == 0); ++round) {
    for (Client& client : clients) client.send(Client::text_of("POST", "/predict", heavy.dump()));
    for (Client& client : clients) {
      const Answer answer = client.receive();
      if (answer.code == 200) {
        ++done;
        EXPECT_EQ(answer.json()["results"].size(), 2000u);
      } else {
        ++refused;
        ASSERT_EQ(answer.code, 503u) << answer.body;
        EXPECT_EQ(answer.retry_after, "1");
      }
    }
  }
  EXPECT_GT(done, 0u);
  EXPECT_GT(refused, 0u);
  EXPECT_EQ(server.metric("slide_rejected_total"), static_cast<double>(refused));
  EXPECT_EQ(server.metric("slide_requests_in_flight"), 0);
  EXPECT_EQ(server.metric("slide_requests_total{endpoint=\"/predict\",code=\"503\"}"),
            static_cast<double>(refused));
  EXPECT_EQ(server.metric("slide_request_seconds_count{endpoint=\"/predict\"}"),
            static_cast<double>(done + refused));
}

TEST_F(HttpServerTest, ConnectionsAreBounded) {
  ServerProcess server = serve("ids", {"--max-connections", "2"});
  {
    Client first = server.client(), second = server.client();
    EXPECT_EQ(first.ask("GET", "/health").code, 200u);
    EXPECT_EQ(second.ask("GET", "/health").code, 200u);
    Client third = server.client();
    const Answer refused = third.receive();
    EXPECT_EQ(refused.code, 503u);
    EXPECT_EQ(refused.retry_after, "1");
    EXPECT_EQ(first.ask("GET", "/health").code, 200u);
  }
  EXPECT_TRUE(wait_until([&] { return server.client().ask("GET", "/health").code == 200; }));
}

TEST_F(HttpServerTest, SlowAndIdleClientsAreLetGo) {
  ServerProcess server = serve("ids", {"--timeout", "0.3", "--keep-alive", "0.3"});
  Client idle = server.client();
  EXPECT_TRUE(idle.is_closed());
  for (const char* part : {"POST /pre", "POST /predict HTTP/1.1\r\nHost: localhost\r\n",
                           "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{"}) {
    Client slow = server.client();
    slow.send(part);
    const Answer answer = slow.receive();
    EXPECT_EQ(answer.code, 408u) << part;
    EXPECT_TRUE(slow.is_closed());
  }
  // Sending byte by byte does not extend the time limit.
  Client dripping = server.client();
  dripping.send("GET /health HTTP/1.1\r\nX: ");
  std::thread drops([&] {
    for (int i = 0; i < 100; ++i) {
      try {
        dripping.send("x");
      } catch (const boost::system::system_error&) {
        return;  // correctly closed
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  EXPECT_EQ(dripping.receive().code, 408u);
  drops.join();
  EXPECT_EQ(server.client().ask("GET", "/health").code, 200u);
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(HttpServerTest, AReloadLosesNoRequest) {
  const std::string served = slide_->path("served/model.slide");
  std::filesystem::create_directories(slide_->path("served"));
  const auto put =
      // as deployments do: written completely under another name, then renamed
      [&](const std::string& model) {
        std::filesystem::copy_file(slide_->path(model + "/model.slide"), served + ".new",
                                   std::filesystem::copy_options::overwrite_existing);
        std::filesystem::rename(served + ".new", served);
      };
  put("ids");
  ServerProcess server = serve("served", {"--threads", "2"});
  const std::string first = server.client().ask("GET", "/health").json()["model"];
  std::atomic<bool> enough = false;
  std::atomic<int> good = 0, bad = 0;
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&] {
      Client client = server.client();
      while (!enough) {
        try {
          const Answer answer = client.predict({{"features", {{"3", 1}, {"50", 0.5}}}, {"k", 2}});
          ++(answer.code == 200 && answer.json()["predictions"].size() == 2 ? good : bad);
        } catch (const std::exception&) {
          ++bad;
          return;
        }
      }
    });
  }
  std::string second;
  for (int round = 1; round <= 6; ++round) {
    put(round % 2 == 1 ? "other" : "ids");
    server.signal(SIGHUP);
    EXPECT_TRUE(wait_until([&] { return server.metric("slide_reloads_total{result=\"done\"}") == round; }));
    const std::string now = server.client().ask("GET", "/health").json()["model"];
    if (round == 1) second = now;
    EXPECT_EQ(now, round % 2 == 1 ? second : first);
  }
  EXPECT_NE(first, second);
  write_file(served + ".new", "this is no model");
  std::filesystem::rename(served + ".new", served);
  server.signal(SIGHUP);
  EXPECT_TRUE(wait_until([&] { return server.metric("slide_reloads_total{result=\"failed\"}") == 1; }));
  EXPECT_TRUE(contains(server.errors(), "reload failed, the model before stays"));
  EXPECT_EQ(server.client().ask("GET", "/health").json()["model"], first);
  enough = true;
  for (std::thread& client : clients) client.join();
  EXPECT_GT(good, 0);
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(HttpServerTest, ASignalLetsRequestsUnderWayFinish) {
  for (const int number : {SIGTERM, SIGINT}) {
    ServerProcess server = serve("ids");
    Client begun = server.client(), idle = server.client();
    EXPECT_EQ(idle.ask("GET", "/health").code, 200u);
    const std::string request = Client::text_of("POST", "/predict", R"({"features": {"3": 1}})");
    begun.send(request.substr(0, request.size() / 2));
    EXPECT_TRUE(wait_until([&] { return server.metric("slide_connections") == 3; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the first half has been read
    server.signal(number);
    EXPECT_TRUE(idle.is_closed());
    EXPECT_THROW(server.client(), boost::system::system_error);  // no more connections
    begun.send(request.substr(request.size() / 2));
    const Answer answer = begun.receive();
    EXPECT_EQ(answer.code, 200u) << answer.body;
    EXPECT_EQ(answer.connection, "close");
    EXPECT_EQ(server.wait(), 0) << server.errors();
  }
}

// No working thread is interrupted, and no signal waits for one.
TEST_F(HttpServerTest, SignalsGoToOneThread) {
  ServerProcess server = serve("ids", {"--threads", "3", "--inference", "lsh"});
  Client client = server.client();
  server.signal(SIGHUP);
  EXPECT_TRUE(wait_until([&] { return server.metric("slide_reloads_total{result=\"done\"}") == 1; }));
  EXPECT_EQ(client.predict({{"features", {{"3", 1}}}}).code, 200u);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) EXPECT_EQ(server.threads_that_take(number), 1) << number;
}

// Both signals are pending when the process continues; the server may see either first.
TEST_F(HttpServerTest, AReloadAndAStopAtOnceStop) {
  if (kThreadSanitizer)
    GTEST_SKIP() << "ThreadSanitizer loses one of two signals that come at once now and then";
  for (int round = 0; round < 12; ++round) {
    ServerProcess server = serve("ids");
    server.signal(SIGSTOP);
    server.signal(SIGHUP);
    server.signal(SIGTERM);
    server.signal(SIGCONT);
    ASSERT_EQ(server.wait(), 0) << server.errors();
  }
}

TEST_F(HttpServerTest, AClientThatNeverFinishesDoesNotKeepItAlive) {
  ServerProcess server = serve("ids", {"--timeout", "0.5"});
  Client begun = server.client();
  begun.send("POST /predict HTTP/1.1\r\n");
  EXPECT_TRUE(wait_until([&] { return server.metric("slide_connections") == 2; }));
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(HttpServerTest, WhatCannotBeServedIsToldInOneLine) {
  ServerProcess server = serve("ids");
  struct Case {
    Strings arguments;
    const char* part;
  };
  const Case cases[] = {
      {{"ids/model.slide", "--port", std::to_string(server.port())}, "cannot listen on 127.0.0.1 port"},
      {{"ids/model.slide", "--port", "70000"}, "'70000' is no whole number from 0 to 65535"},
      {{"ids/model.slide", "--port", "0", "--host", "not a host"}, "--host not a host: no such address"},
      {{"ids/model.slide", "--port", "0", "--host", ""}, "--host"},
      {{"ids/model.slide", "--port", "0", "--timeout", "0"}, "--timeout"},
      {{"none.slide", "--port", "0"}, "there is no such model"},
      {{"c.toml", "--port", "0"}, "this is no slide model"},
  };
  for (const Case& c : cases) {
    Strings arguments = {"serve"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    expect_refused(slide_->run(arguments), c.part);
  }
}

}  // namespace
}  // namespace slide::test
