// Tests of Host, Origin and the target of a request: a page of another site reaches no server of the
// reader's.
#include <gtest/gtest.h>

#include "tests/serve/serve_fixture.h"

namespace slide::test {
namespace {

class HostTest : public ServeTest {
 protected:
  struct Case {
    std::string request;  // without its last line
    unsigned code;
  };
  static void expect(const ServerProcess& server, const std::vector<Case>& cases) {
    for (const Case& c : cases) {
      Client client = server.client();
      client.send(c.request + "\r\n");
      const Answer answer = client.receive();
      EXPECT_EQ(answer.code, c.code) << c.request << answer.body;
      if (c.code != 200) {
        EXPECT_TRUE(answer.json().contains("error")) << answer.body;
      }
    }
  }
  static std::string get(const std::string& fields) { return "GET /health HTTP/1.1\r\n" + fields; }
};

TEST_F(HostTest, OtherNamesAreRefused) {
  ServerProcess server = serve("ids", {"--allow-host", "models.example", "--allow-host", "[fd00::7]"});
  std::vector<Case> cases;
  for (const char* host : {"localhost", "LocalHost:80", "localhost.", "127.0.0.1", "127.0.0.1:9", "[::1]",
                           "[::1]:8080", "192.168.1.5:8080", "models.example", "Models.Example:443"})
    cases.push_back({get("Host: " + std::string(host) + "\r\n"), 200});
  for (const char* host :
       {"evil.example", "localhost.evil.example", "evil.example:8080", "127.0.0.1.evil.example",
        "localhost..", "2130706433", "0x7f.0.0.1", "notlocalhost", ""})
    cases.push_back({get("Host: " + std::string(host) + "\r\n"), 421});
  for (const char* host : {"a b", "localhost:x", "[::1", "[localhost]", "user@localhost", "a/b", "::1"})
    cases.push_back({get("Host: " + std::string(host) + "\r\n"), 400});
  expect(server, cases);
  const Answer refused = server.client().ask("GET", "/metrics", "", "X: 1\r\n");
  EXPECT_EQ(refused.code, 200u);
  Client client = server.client();
  client.send(
      "POST /predict HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 22\r\n\r\n{\"features\": {\"3\": 1}}");
  EXPECT_TRUE(contains(client.receive().body, "--allow-host evil.example"));
}

// RFC 9112, 3.2: one Host in HTTP/1.1; the host of a whole URL counts in place of it.
TEST_F(HostTest, TheTargetAndHostAreReadByTheStandard) {
  ServerProcess server = serve("ids");
  const std::string here = "Host: localhost\r\n", evil = "Host: evil.example\r\n";
  expect(server, {{get(""), 400},
                  {get(here + here), 400},
                  {get(here + evil), 400},
                  {"GET /health HTTP/1.0\r\n", 200},
                  {"GET /health HTTP/1.0\r\n" + evil, 421},
                  {"GET http://localhost/health HTTP/1.1\r\n" + here, 200},
                  {"GET HTTP://127.0.0.1:80/health?x=1 HTTP/1.1\r\n" + here, 200},
                  {"GET http://localhost/health HTTP/1.1\r\n" + evil, 200},
                  {"GET http://localhost?x=/health HTTP/1.1\r\n" + here, 200},
                  {"GET http://evil.example/health HTTP/1.1\r\n" + here, 421},
                  {"GET http://user@localhost/health HTTP/1.1\r\n" + here, 400},
                  {"GET http://localhost/nowhere HTTP/1.1\r\n" + here, 404},
                  {"GET http://localhost/health HTTP/1.1\r\n", 400}});
}

TEST_F(HostTest, PagesOfOtherOriginsAreRefused) {
  ServerProcess server = serve("ids", {"--allow-host", "models.example"});
  const std::string here = "Host: localhost:8080\r\n";
  expect(server, {{get(here + "Origin: http://localhost:8080\r\n"), 200},
                  {get("Host: 10.0.0.1\r\nOrigin: http://10.0.0.1\r\n"), 200},
                  {get(here + "Origin: https://models.example\r\n"), 200},
                  {get(here + "Origin: https://models.example:444\r\n"), 200},
                  {get(here + "Origin: http://localhost:3000\r\n"), 403},
                  {get(here + "Origin: http://localhost\r\n"), 403},
                  {get(here + "Origin: http://evil.example\r\n"), 403},
                  {get(here + "Origin: http://10.0.0.1\r\n"), 403},
                  {get(here + "Origin: null\r\n"), 403},
                  {get(here + "Origin:\r\n"), 403},
                  {get(here + "Origin: http://localhost:8080\r\nOrigin: http://evil.example\r\n"), 403}});
}

TEST_F(HostTest, AllNamesCanBeAllowed) {
  ServerProcess server = serve("ids", {"--allow-host", "*"});
  expect(server, {{get("Host: any.example\r\nOrigin: http://evil.example\r\n"), 200}, {get(""), 400}});
  for (const char* name : {"", "a b", "models.example:80", "http://models.example", "[::1]:80"}) {
    expect_refused(slide_->run({"serve", "ids/model.slide", "--port", "0", "--allow-host", name}),
                   "--allow-host");
  }
}

// A client of HTTP/1.0 takes 100 for the answer.
TEST_F(HostTest, NoContinueGoesToHttp10) {
  ServerProcess server = serve("ids");
  Client client = server.client();
  client.send("POST /predict HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 22\r\n\r\n");
  EXPECT_FALSE(client.hears(200));
  client.send("{\"features\": {\"3\": 1}}");
  EXPECT_EQ(client.receive().code, 200u);
}

}  // namespace
}  // namespace slide::test
