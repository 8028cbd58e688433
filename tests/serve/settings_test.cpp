// Settings of a server from a file and from variables, readiness, logs in JSON, and metrics of answers.
#include <gtest/gtest.h>

#include <signal.h>

#include <cstdlib>
#include <string>

#include "tests/serve/serve_fixture.h"

namespace slide::test {
namespace {

// A variable of the environment during its lifetime.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

class ServeSettingsTest : public ServeTest {
 protected:
  static std::size_t labels_of(ServerProcess& server) {
    return server.client().predict({{"features", features_of(lines().front())}}).json()["predictions"].size();
  }
};

TEST_F(ServeSettingsTest, FilesGiveOptionsAndVariablesGoBeforeThem) {
  write_file(slide_->path("s.toml"),
             "model = \"ids/model.slide\"\nk = 1\nsimilar = true\nallow-host = [\"one.example\", "
             "\"two.example\"]\n");
  {
    ServerProcess server(folder(), {"--config", "s.toml"});
    EXPECT_EQ(labels_of(server), 1u);
    EXPECT_EQ(server.client().ask("POST", "/similar", R"({"item": 3, "k": 2})").json()["similar"].size(), 2u);
    for (const std::string host : {"one.example", "two.example", "three.example"}) {
      Client client = server.client();
      client.send("GET /health HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
      EXPECT_EQ(client.receive().code, host == "three.example" ? 421u : 200u) << host;
    }
  }
  const Variable k("SLIDE_K", "3"), config("SLIDE_CONFIG", "s.toml");
  ServerProcess by_variable(folder(), {});
  EXPECT_EQ(labels_of(by_variable), 3u);
  ServerProcess by_option(folder(), {"--k", "4"});
  EXPECT_EQ(labels_of(by_option), 4u);
}

TEST_F(ServeSettingsTest, FaultsOfSettingsAreOneLine) {
  const auto refused = [](const std::string& text, const std::string& message) {
    write_file(slide_->path("bad.toml"), text);
    expect_refused(slide_->run({"serve", "ids", "--port", "0", "--config", "bad.toml"}), message);
  };
  refused("# a server\nkk = 3\n", "bad.toml:2: unknown key 'kk'; did you mean 'k'?");
  refused("[serve]\nk = 3\n",
          "bad.toml:1: [serve] is a table, but all keys of this file stand at the top level");
  refused("k = \n", "no TOML");
  refused("k = 0\n", "bad.toml:1: k: '0' is no whole number");
  const Outcome missing = slide_->run({"serve", "ids", "--config", "none.toml"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(missing.err.starts_with("slide: none.toml: no such file; --config")) << missing.err;
}

TEST_F(ServeSettingsTest, AThresholdOfTheServerDecides) {
  ServerProcess server = serve("ids", {"--threshold", "0"});
  EXPECT_EQ(labels_of(server), 60u);
}

TEST_F(ServeSettingsTest, ReadinessIsApartFromHealth) {
  ServerProcess server = serve("ids");
  const Answer ready = server.client().ask("GET", "/ready");
  EXPECT_EQ(ready.code, 200u);
  EXPECT_EQ(ready.json()["status"], "ready");
  EXPECT_EQ(server.client().ask("POST", "/ready", "{}").code, 405u);
}

TEST_F(ServeSettingsTest, LogsAreLinesOfJson) {
  ServerProcess server = serve("ids", {"--log-format", "json"});
  EXPECT_EQ(server.client().ask("GET", "/health").code, 200u);
  server.signal(SIGHUP);
  ASSERT_TRUE(wait_until([&] { return server.errors().find('\n') != std::string::npos; }));
  const Json line = Json::parse(server.errors());
  EXPECT_EQ(line["event"], "reload") << line;
  EXPECT_TRUE(contains(line["message"].get<std::string>(), "reloaded ids/model.slide")) << line;
  EXPECT_TRUE(line["time"].get<std::string>().ends_with("Z"));
}

// With logs in JSON a start that fails is told as an object, too: of a model, a port, an option, a file.
TEST_F(ServeSettingsTest, FailedStartsAreLinesOfJson) {
  const auto refused = [](const Strings& arguments, const std::string& message) {
    const Outcome done = slide_->run(arguments);
    EXPECT_EQ(done.code, 2) << done.err;
    const Json line = Json::parse(done.err, nullptr, false);
    ASSERT_TRUE(line.is_object()) << done.err;
    EXPECT_EQ(line["event"], "error");
    EXPECT_TRUE(contains(line["message"].get<std::string>(), message)) << line;
  };
  refused({"serve", "nofile", "--log-format", "json"}, "nofile: there is no such model");
  refused({"serve", "ids", "--log-format=json", "--port", "x"}, "--port: 'x' is no whole number");
  write_file(slide_->path("logs.toml"), "log-format = \"json\"\nport = 0\n");
  refused({"serve", "nofile", "--config", "logs.toml"}, "nofile: there is no such model");
  write_file(slide_->path("logs.toml"), "log-format = \"json\"\nprt = 0\n");
  refused({"serve", "ids", "--config", "logs.toml"}, "logs.toml:2: unknown key 'prt'");
  const Variable json("SLIDE_LOG_FORMAT", "json");
  refused({"serve", "nofile"}, "nofile: there is no such model");
}

TEST_F(ServeSettingsTest, FaultsNameWhereTheValueStands) {
  const auto refusal = [](const Strings& more) {
    const Outcome done = slide_->run(Strings{"serve", "ids"} + more);
    EXPECT_EQ(done.code, 2) << done.err;
    return done.err;
  };
  write_file(slide_->path("bad.toml"), "k = 3\nport = \"x\"\n");
  EXPECT_TRUE(
      refusal({"--config", "bad.toml"}).starts_with("slide: bad.toml:2: port: 'x' is no whole number"));
  write_file(slide_->path("bad.toml"), "log-format = \"xml\"\n");
  EXPECT_TRUE(refusal({"--config", "bad.toml"}).starts_with("slide: bad.toml:1: log-format: xml not in"));
  {
    const Variable flag("SLIDE_SIMILAR", "maybe");
    EXPECT_TRUE(refusal({}).starts_with("slide: SLIDE_SIMILAR: give true or false, not maybe; see"));
  }
  const auto of_settings = [](const Strings& more) {
    const Outcome done = slide_->run(Strings{"serve"} + more);
    EXPECT_EQ(done.code, 2) << done.err;
    return done.err;
  };
  write_file(slide_->path("bad.toml"), "port = 0\n\nmodel = \"nofile\"\n");
  EXPECT_TRUE(
      of_settings({"--config", "bad.toml"}).starts_with("slide: bad.toml:3: model: nofile: there is no"));
  EXPECT_TRUE(
      of_settings({"none", "--config", "bad.toml"}).starts_with("slide: none: there is no such model"));
  write_file(slide_->path("bad.toml"), "model = 3\nport = 0\n");
  EXPECT_TRUE(of_settings({"--config", "bad.toml"}).starts_with("slide: bad.toml:1: model: 3: there is no"));
  write_file(slide_->path("bad.toml"), "port = 0\nlabels = \"/none.txt\"\n");
  EXPECT_TRUE(refusal({"--config", "bad.toml"}).starts_with("slide: bad.toml:2: labels: /none.txt: "));
  {
    const Variable model("SLIDE_MODEL", "nofile");
    EXPECT_TRUE(
        of_settings({"--port", "0"}).starts_with("slide: SLIDE_MODEL: nofile: there is no such model"));
    EXPECT_TRUE(of_settings({"none"}).starts_with("slide: none: there is no such model"));
  }
  const Variable port("SLIDE_PORT", "abc");
  EXPECT_TRUE(refusal({}).starts_with("slide: SLIDE_PORT: 'abc' is no whole number"));
  EXPECT_TRUE(refusal({"--port", "y"}).starts_with("slide: --port: 'y' is no whole number"));
}

// A variable that is nearly one of the server's is warned of; those of other programs are not.
TEST_F(ServeSettingsTest, MisspeltVariablesAreWarnedOf) {
  const Variable misspelt("SLIDE_PRT", "8081"), other("SLIDE_BINARY", "slide"), far("SLIDE_MODULE", "x");
  const Outcome done = slide_->run({"serve", "nofile", "--port", "0"});
  EXPECT_EQ(done.err.find("slide: SLIDE_PRT: this variable is not known and has no effect; did you mean "
                          "SLIDE_PORT?\nslide: nofile: "),
            0U)
      << done.err;
  EXPECT_FALSE(contains(slide_->run({"test", "nofile", "x"}).err, "SLIDE_PRT"));
}

TEST_F(ServeSettingsTest, MetricsTellWhatAnswersAreLike) {
  ServerProcess server = serve("text", {"--k", "2"});
  Client client = server.client();
  client.predict({{"text", "a choir sings"}});
  client.predict({{"text", "a choir sings"}, {"threshold", 1}});
  client.predict({{"text", "bread"}, {"k", 1}});
  EXPECT_EQ(server.metric("slide_unknown_features_total"), 0);
  client.predict({{"text", "zeppelin"}, {"k", 1}, {"scores", "logit"}});
  EXPECT_GE(server.metric("slide_unknown_features_total"), 1);
  EXPECT_EQ(server.metric("slide_top_score_count"), 2);
  EXPECT_EQ(server.metric("slide_top_score_bucket{le=\"+Inf\"}"), 2);
  EXPECT_EQ(server.metric("slide_empty_answers_total"), 1);
  EXPECT_GE(server.metric("slide_labels_used"), 2);
  EXPECT_LE(server.metric("slide_labels_used"), 3);
  ServerProcess ids = serve("ids");
  ids.client().predict({{"features", {{"1", 1}, {"5000", 1}}}});
  EXPECT_EQ(ids.metric("slide_unknown_features_total"), 1);
}

}  // namespace
}  // namespace slide::test
