// Tests of request framing: ambiguous requests are refused, and the bytes after them are not parsed as a
// request.
#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "tests/serve/serve_fixture.h"

namespace slide::test {
namespace {

class FramingTest : public ServeTest {
 protected:
  // The status codes of all answers to `bytes`, until the server closes the connection.
  static std::vector<int> codes(const ServerProcess& server, const std::string& bytes) {
    Client client = server.client();
    client.send(bytes);
    const std::string all = client.receive_all();
    std::vector<int> codes;
    for (std::size_t at = all.find("HTTP/1.1 "); at != std::string::npos; at = all.find("HTTP/1.1 ", at + 1))
      codes.push_back(std::stoi(all.substr(at + 9, 3)));
    return codes;
  }
};

constexpr const char* kBody = R"({"features": {"3": 1}})";  // 22 bytes
constexpr const char* kSmuggled = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

TEST_F(FramingTest, ABodyWithoutAKnownEndIsNoSecondRequest) {
  ServerProcess server = serve("ids", {"--timeout", "2"});
  struct Case {
    const char* version;
    const char* header;
    int code;
  };
  const Case cases[] = {{"1.1", "Transfer-Encoding: xchunked\r\n", 501},
                        {"1.1", "Transfer-Encoding: gzip\r\n", 501},
                        {"1.1", "Transfer-Encoding: identity\r\n", 501},
                        {"1.1", "Transfer-Encoding: chunked, identity\r\n", 501},
                        {"1.1", "Transfer-Encoding: gzip, chunked\r\n", 501},
                        {"1.1", "Transfer-Encoding: chunked, chunked\r\n", 501},
                        {"1.1", "Transfer-Encoding:\r\n", 501},
                        {"1.1", "Transfer-Encoding: \"chunked\"\r\n", 501},
                        {"1.1", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", 501},
                        {"1.1", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", 400},
                        {"1.0", "Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n", 400},
                        {"1.0", "Transfer-Encoding: gzip\r\nConnection: keep-alive\r\n", 400},
                        {"1.1", "Transfer-Encoding: identity\r\nContent-Length: 22\r\n", 400},
                        {"1.1", "Transfer-Encoding: chunked\r\nContent-Length: 22\r\n", 400},
                        {"1.1", "Content-Length: 22\r\nTransfer-Encoding: chunked\r\n", 400},
                        {"1.1", "Content-Length: 22\r\nTransfer-Encoding: identity\r\n", 400},
                        {"1.1", "Content-Length: 22\r\nContent-Length: 0\r\n", 400},
                        {"1.1", "Content-Length: 0, 22\r\n", 400},
                        {"1.1", "Content-Length: +22\r\n", 400},
                        {"1.1", "Content-Length: -1\r\n", 400},
                        {"1.1", "Content-Length: 0x16\r\n", 400},
                        {"1.1", "Content-Length: 99999999999999999999\r\n", 400},
                        {"1.1", "Content-Length : 0\r\n", 400}};
  for (const Case& c : cases) {
    for (const std::string target : {"POST /predict", "GET /health", "POST /nowhere"}) {
      const std::string head = target + " HTTP/" + c.version + "\r\nHost: localhost\r\n" + c.header + "\r\n";
      EXPECT_EQ(codes(server, head + kBody + kSmuggled), std::vector<int>{c.code}) << head;
      EXPECT_EQ(codes(server, head + kSmuggled), std::vector<int>{c.code}) << head;
    }
  }
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

// Well-framed requests are answered, in any spelling and any number at once.
TEST_F(FramingTest, WellFramedRequestsAreAnswered) {
  ServerProcess server = serve("ids", {"--timeout", "2"});
  const std::string head = "POST /predict HTTP/1.1\r\nHost: localhost\r\n", body = kBody;
  const std::string chunks = "5;name=value\r\n" + body.substr(0, 5) + "\r\n11\r\n" + body.substr(5) +
                             "\r\n0\r\nChecksum: none\r\n\r\n";
  const std::vector<int> both = {200, 200};
  EXPECT_EQ(codes(server, head + "Transfer-Encoding: chunked\r\n\r\n" + chunks + kSmuggled), both);
  EXPECT_EQ(codes(server, head + "transfer-encoding:  CHUNKED \r\n\r\n" + chunks + kSmuggled), both);
  EXPECT_EQ(codes(server, head + "Content-Length: 22\r\n\r\n" + body + kSmuggled), both);
  EXPECT_EQ(codes(server, head + "Content-Length: 22\r\nContent-Length: 22\r\n\r\n" + body + kSmuggled),
            both);
  EXPECT_EQ(codes(server, "POST /predict HTTP/1.0\r\nContent-Length: 22\r\n\r\n" + body),
            std::vector<int>{200});
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

// Chunk extensions and trailers are not part of the body, but their size is bounded.
TEST_F(FramingTest, LinesAroundChunksAreBounded) {
  ServerProcess server = serve("ids", {"--timeout", "20"});
  const std::string head = "POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string start : {"5;name=", "0\r\nX: "})
    EXPECT_EQ(codes(server, head + start + std::string(200000, 'x')), std::vector<int>{431}) << start;
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

// Above the limit, a client receives the reason, also when it sends much before reading, and for many
// clients.
TEST_F(FramingTest, AConnectionTooManyIsToldAndNotReset) {
  ServerProcess server = serve("ids", {"--max-connections", "2", "--keep-alive", "30"});
  Client first = server.client(), second = server.client();
  EXPECT_EQ(first.ask("GET", "/health").code, 200u);
  EXPECT_EQ(second.ask("GET", "/health").code, 200u);
  std::deque<Client> clients;
  for (int c = 0; c < 400; ++c) {
    clients.emplace_back(server.port());
    clients.back().send("POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 22\r\n\r\n" +
                        std::string(kBody));
  }
  for (Client& client : clients) {
    const Answer refused = client.receive();
    ASSERT_EQ(refused.code, 503u);
    EXPECT_EQ(refused.connection, "close");
    EXPECT_EQ(refused.retry_after, "1");
    EXPECT_TRUE(refused.json().contains("error")) << refused.body;
  }
  clients.clear();
  EXPECT_EQ(first.ask("GET", "/health").code, 200u);
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

}  // namespace
}  // namespace slide::test
