// Tests of the access log: its content for each answer, and that no request depends on it.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <regex>

#include "tests/serve/serve_fixture.h"

namespace slide::test {
namespace {

class AccessLogTest : public ServeTest {
 protected:
  static std::vector<Json> entries(const std::string& path) {
    std::vector<Json> entries;
    std::istringstream file(read_file(path));
    for (std::string line; std::getline(file, line);) entries.push_back(Json::parse(line));
    return entries;
  }
};

TEST_F(AccessLogTest, ALineTellsOfEachAnswer) {
  const std::string log = slide_->path("access.jsonl");
  write_file(log, "{\"before\":1}\n");
  ServerProcess server = serve("ids", {"--access-log", "access.jsonl", "--max-body", "1000"});
  const std::string body = R"({"inputs": [{"features": {"3": 1}}, {"features": {"4": 1}}], "k": 1})";
  const std::string model = server.client().ask("GET", "/health?secret=1").json()["model"];
  const std::string request = Client::text_of("POST", "/predict", body);
  Client client = server.client();
  client.send(request);
  const Answer answer = client.receive();
  ASSERT_EQ(answer.code, 200u) << answer.body;
  EXPECT_EQ(client.ask("POST", "/predict", "no JSON").code, 400u);
  EXPECT_EQ(client.ask("GET", "/\xff\"\\" + std::string(3000, 'x')).code, 404u);
  EXPECT_EQ(client.ask("POST", "/predict", std::string(2000, ' ')).code, 413u);
  Client garbage = server.client();
  garbage.send("\x16\x03\x01 what is this\r\n\r\n");
  EXPECT_EQ(garbage.receive().code, 400u);
  EXPECT_EQ(server.stop(), 0) << server.errors();

  const std::vector<Json> lines = entries(log);
  ASSERT_EQ(lines.size(), 7u) << read_file(log);
  EXPECT_TRUE(lines[0].contains("before"));
  const std::regex time(R"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ)"), address(R"(127\.0\.0\.1:\d+)");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_TRUE(std::regex_match(lines[i]["time"].get<std::string>(), time)) << lines[i];
    EXPECT_TRUE(std::regex_match(lines[i]["client"].get<std::string>(), address)) << lines[i];
    EXPECT_GE(lines[i]["seconds"].get<double>(), 0.0);
    EXPECT_GT(lines[i]["bytes_out"].get<std::size_t>(), 100u);
  }
  EXPECT_EQ(lines[1]["path"], "/health");
  EXPECT_EQ(lines[1]["method"], "GET");
  EXPECT_EQ(lines[1]["model"], nullptr);
  EXPECT_EQ(lines[2]["path"], "/predict");
  EXPECT_EQ(lines[2]["method"], "POST");
  EXPECT_EQ(lines[2]["status"], 200);
  EXPECT_EQ(lines[2]["rows"], 2);
  EXPECT_EQ(lines[2]["model"], model);
  EXPECT_EQ(lines[2]["bytes_in"], request.size());
  EXPECT_GT(lines[2]["bytes_out"], answer.body.size());
  EXPECT_EQ(lines[3]["status"], 400);
  EXPECT_EQ(lines[3]["rows"], 0);
  EXPECT_EQ(lines[4]["status"], 404);
  EXPECT_LT(lines[4]["path"].get<std::string>().size(), 600u);
  EXPECT_EQ(lines[5]["status"], 413);
  EXPECT_EQ(lines[6]["status"], 400);
}

// A rotated file stays in use until the new one can be opened, which is tried again.
TEST_F(AccessLogTest, AFileThatCannotBeOpenedAnewIsTriedAgain) {
  const std::string log = slide_->path("again.jsonl"), old = slide_->path("again.jsonl.1");
  ServerProcess server = serve("ids", {"--access-log", "again.jsonl"});
  std::filesystem::rename(log, old);
  std::filesystem::create_directory(log);  // cannot be opened for writing
  server.signal(SIGHUP);
  EXPECT_TRUE(wait_until([&] { return server.errors().find("--access-log") != std::string::npos; }));
  EXPECT_EQ(server.client().ask("GET", "/health").code, 200u);
  EXPECT_TRUE(wait_until([&] { return entries(old).size() == 1; }));
  std::filesystem::remove(log);
  EXPECT_TRUE(wait_until([&] {
    server.client().ask("GET", "/health");
    return std::filesystem::exists(log);
  }));
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(AccessLogTest, AReloadOpensItAnew) {
  const std::string log = slide_->path("turned.jsonl"), old = slide_->path("turned.jsonl.1");
  ServerProcess server = serve("ids", {"--access-log", "turned.jsonl"});
  EXPECT_EQ(server.client().ask("GET", "/health").code, 200u);
  EXPECT_TRUE(wait_until([&] { return entries(log).size() == 1; }));
  std::filesystem::rename(log, old);
  EXPECT_EQ(server.client().ask("GET", "/health").code, 200u);
  EXPECT_TRUE(wait_until([&] { return entries(old).size() == 2; }));
  server.signal(SIGHUP);
  EXPECT_TRUE(wait_until([&] { return std::filesystem::exists(log); }));
  EXPECT_EQ(server.client().ask("GET", "/health").code, 200u);
  EXPECT_EQ(server.stop(), 0) << server.errors();
  EXPECT_EQ(entries(old).size(), 2u);
  EXPECT_EQ(entries(log).size(), 1u);
}

// A full disk, and a pipe without readers: reported once, and every request is answered.
TEST_F(AccessLogTest, WhatCannotBeWrittenFailsNoRequest) {
  for (const std::string file : {"/dev/full", "pipe"}) {
    int reader = -1;
    if (file == "pipe") {
      ASSERT_EQ(mkfifo(slide_->path(file).c_str(), 0600), 0);
      reader = open(slide_->path(file).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    }
    ServerProcess server = serve("ids", {"--access-log", file});
    Client client = server.client();
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(client.ask("GET", "/health").code, 200u) << i;
    EXPECT_EQ(server.stop(), 0);
    const std::string errors = server.errors();
    EXPECT_TRUE(contains(errors, "--access-log " + file + ": cannot be written"));
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << errors;
    if (reader >= 0) close(reader);
  }
  expect_refused(slide_->run({"serve", "ids/model.slide", "--port", "0", "--access-log", "none/file"}),
                 "none/file: cannot be created, for the folder none does not exist");
}

TEST_F(AccessLogTest, StandardOutputTakesItToo) {
  ServerProcess server = serve("ids", {"--access-log", "-"});
  EXPECT_EQ(server.client().ask("GET", "/health").code, 200u);
  EXPECT_EQ(Json::parse(server.output_line())["path"], "/health");
  server.close_output();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(server.client().ask("GET", "/health").code, 200u);
  EXPECT_EQ(server.stop(), 0) << server.errors();
  EXPECT_EQ(server.errors(),
            "slide: --access-log -: cannot be written (Broken pipe); requests are answered all the same\n");
}

}  // namespace
}  // namespace slide::test
