// Tests of the bound on bytes of requests and answers that wait, of all clients together.
#include <gtest/gtest.h>

#include <deque>

#include "tests/serve/serve_fixture.h"

namespace slide::test {
namespace {

constexpr double kLimit = 16000000;

class WaitingTest : public ServeTest {
 protected:
  static Strings limited() { return {"--max-waiting", "16000000", "--threads", "2", "--timeout", "60"}; }
  // A request whose answer has about 7 MB.
  static std::string large(int inputs = 4000) {
    Json request = {{"inputs", Json::array()}, {"k", 60}};
    for (int i = 0; i < inputs; ++i)
      request["inputs"].push_back({{"features", {{std::to_string(i % 100), 1}}}});
    return Client::text_of("POST", "/predict", request.dump());
  }
  static double waiting(const ServerProcess& server) { return server.metric("slide_waiting_bytes"); }
  static double refused(const ServerProcess& server) { return server.metric("slide_rejected_total"); }
};

TEST_F(WaitingTest, AnswersThatNobodyReadsAreBounded) {
  ServerProcess server = serve("ids", limited());
  EXPECT_EQ(server.metric("slide_waiting_limit_bytes"), kLimit);
  Client reading = server.client();
  reading.send(large());
  const Answer whole = reading.receive();
  ASSERT_EQ(whole.code, 200u);
  ASSERT_EQ(whole.json()["results"].size(), 4000u);
  ASSERT_GT(whole.body.size(), 5000000u);
  {
    std::deque<Client> unread;
    for (int c = 0; c < 8; ++c) {
      unread.emplace_back(server.port(), 4096);
      unread.back().send(large());
    }
    EXPECT_TRUE(wait_until([&] {
      EXPECT_LE(waiting(server), kLimit);
      return server.metric("slide_requests_in_flight") == 0 && refused(server) >= 3;
    })) << refused(server);
    EXPECT_GT(waiting(server), kLimit / 4);
    EXPECT_EQ(reading.predict({{"features", {{"3", 1}}}}).code, 200u);  // small ones need no room
    Client told = server.client();
    told.send(large());
    const Answer answer = told.receive();
    EXPECT_EQ(answer.code, 503u) << answer.body.substr(0, 200);
    EXPECT_EQ(answer.retry_after, "1");
  }
  EXPECT_TRUE(wait_until([&] { return waiting(server) == 0; })) << waiting(server);
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(WaitingTest, AnAnswerThatNeverFitsIsRefused) {
  ServerProcess server = serve("ids", {"--max-waiting", "1000000"});
  Client client = server.client();
  client.send(large());
  const Answer answer = client.receive();
  EXPECT_EQ(answer.code, 400u);
  EXPECT_TRUE(contains(answer.body, "--max-waiting")) << answer.body.substr(0, 200);
  EXPECT_EQ(waiting(server), 0);
}

TEST_F(WaitingTest, RequestsThatDoNotEndAreBounded) {
  ServerProcess server = serve("ids", {"--max-waiting", "4000000", "--timeout", "60"});
  {
    std::deque<Client> unfinished;
    for (const std::string length :
         {"Content-Length: 500000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n7a120\r\n"}) {
      for (int c = 0; c < 20; ++c) {
        unfinished.emplace_back(server.port());
        try {
          unfinished.back().send("POST /predict HTTP/1.1\r\nHost: localhost\r\n" + length +
                                 std::string(450000, ' '));
        } catch (const boost::system::system_error&) {  // it was told, and the connection is closed
        }
      }
    }
    EXPECT_TRUE(wait_until([&] { return refused(server) >= 25; })) << refused(server);
    EXPECT_LE(waiting(server), 4000000);
    EXPECT_EQ(server.client().predict({{"features", {{"3", 1}}}}).code, 200u);
  }
  EXPECT_TRUE(wait_until([&] { return waiting(server) == 0; })) << waiting(server);
}

TEST_F(WaitingTest, FieldsAreBounded) {
  ServerProcess server = serve("ids");
  const auto code = [&](int fields) {
    std::string more;
    for (int f = 0; f < fields; ++f) more += "a:\r\n";
    return server.client().ask("GET", "/health", "", more).code;
  };
  EXPECT_EQ(code(126), 200u);  // beside Host and Content-Length
  EXPECT_EQ(code(127), 431u);
  Client trailing = server.client();
  std::string trailer;
  for (int f = 0; f < 200; ++f) trailer += "a:\r\n";
  trailing.send("POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n16\r\n" +
                std::string(R"({"features": {"3": 1}})") + "\r\n0\r\n" + trailer + "\r\n");
  EXPECT_EQ(trailing.receive().code, 431u);
}

}  // namespace
}  // namespace slide::test
