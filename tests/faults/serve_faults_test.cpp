// `slide serve` under the same faults: a failure at start is reported in one line; a running server continues
// with its previous model, and every client gets an answer or a closed connection.
#include <optional>

#include "tests/faults/points.h"
#include "tests/sanitizers.h"
#include "tests/serve/serve_fixture.h"

namespace slide::test {
namespace {

const Json kAsked = {{"features", {{"3", 1}, {"7", 2}}}};

class ServeFaultsTest : public ServeTest {
 protected:
  static void SetUpTestSuite() {
    if (!kSanitized) ServeTest::SetUpTestSuite();
  }
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "sanitizers put themselves where the faults are injected";
  }

  // Sets an environment variable during its lifetime.
  struct Preloaded {
    Preloaded(const char* name, const std::string& value) : variable(name) {
      setenv("LD_PRELOAD", SLIDE_FAULT, 1);
      setenv(variable, value.c_str(), 1);
    }
    ~Preloaded() {
      unsetenv("LD_PRELOAD");
      unsetenv(variable);
    }
    const char* variable;
  };
  static ServerProcess serve_with(const char* variable, const std::string& value) {
    const Preloaded preloaded(variable, value);
    return {folder(), {"ids/model.slide", "--threads", "2"}};
  }

  // An answer, or nullopt where the server closes the connection; fails the test otherwise.
  static std::optional<Answer> ask(const ServerProcess& server) {
    try {
      Client client = server.client();
      client.send(Client::text_of("POST", "/predict", kAsked.dump()));
      const bool heard = client.hears(30000);
      EXPECT_TRUE(heard);
      if (!heard) return {};
      return client.receive();
    } catch (const boost::system::system_error&) {
      return {};
    }
  }
  // The requests to every server.
  static void use(const ServerProcess& server) {
    const auto reloaded = [&] {
      return !server.runs() || server.errors().find("reload") != std::string::npos;
    };
    ask(server);
    server.signal(SIGHUP);
    EXPECT_TRUE(wait_until(reloaded));
    ask(server);
  }
};

TEST_F(ServeFaultsTest, ARunningServerContinues) {
  std::string wanted;
  {
    ServerProcess counted = serve_with("FAULT_COUNT", "counts");
    use(counted);
    wanted = ask(counted)->body;
    ASSERT_EQ(counted.stop(), 0) << counted.errors();
  }
  const std::vector<Point> points = points_of(read_file(slide_->path("counts")), 12);
  for (const Point& point : points) {
    if (point.kills() || point.lasts())
      continue;  // libraries end a process whose memory is exhausted completely
    SCOPED_TRACE("serve " + point.text());
    std::optional<std::string> refusal;
    try {
      ServerProcess server = serve_with("FAULT", point.text());
      use(server);
      ASSERT_TRUE(server.runs()) << server.errors();
      const std::optional<Answer> answer = ask(server);
      EXPECT_TRUE(answer && answer->body == wanted) << server.errors();
      EXPECT_EQ(server.stop(), 0) << server.errors();
    } catch (const std::runtime_error& error) {
      refusal = error.what();
    }
    if (!refusal) continue;
    EXPECT_TRUE(refusal->starts_with("no server: '' slide: ") && refusal->find('\n') + 1 == refusal->size())
        << *refusal;
    EXPECT_FALSE(point.survivable()) << *refusal;
  }
  list_points("serve", points);
}

}  // namespace
}  // namespace slide::test
