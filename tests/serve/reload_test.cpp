// Tests of reloads: what else than a model file stands in its place, and models of another kind.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstring>
#include <filesystem>

#include "tests/serve/serve_fixture.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;

class ReloadTest : public ServeTest {
 protected:
  void SetUp() override {
    fs::create_directories(slide_->path("place"));
    put(model_);
  }
  // Replaces the model by a file of `bytes`.
  void put(const std::string& bytes) const {
    fs::remove(place_);
    write_file(place_, bytes);
  }
  // Reloads; whether a line of standard error about it has `part`.
  static bool reloads(const ServerProcess& server, const std::string& part) {
    const std::size_t before = server.errors().size();
    server.signal(SIGHUP);
    EXPECT_TRUE(wait_until([&] { return server.errors().find('\n', before) != std::string::npos; }));
    const std::string said = server.errors().substr(before);
    EXPECT_TRUE(contains(said, part));
    return said.find(part) != std::string::npos;
  }

  const std::string place_ = slide_->path("place/model.slide"),
                    model_ = read_file(slide_->path("ids/model.slide"));
};

TEST_F(ReloadTest, WhatIsNoModelFileIsRefusedAtOnce) {
  ServerProcess server = serve("place");
  fs::remove(place_);
  ASSERT_EQ(mkfifo(place_.c_str(), 0600), 0);
  EXPECT_TRUE(reloads(server, "no regular file"));
  fs::remove(place_);
  fs::create_symlink("/dev/zero", place_);
  EXPECT_TRUE(reloads(server, "no regular file"));
  const std::uint64_t huge = std::uint64_t{1} << 40;
  std::string head = model_;
  std::memcpy(head.data() + 16, &huge, sizeof huge);
  put(head);  // then zeros
  fs::resize_file(place_, huge);
  EXPECT_TRUE(reloads(server, "cut off"));
  put(head);
  fs::resize_file(place_, huge - 8);
  std::ofstream(place_, std::ios::app) << "SLIDEEND";
  EXPECT_TRUE(reloads(server, "the model needs"));
  put(model_);
  EXPECT_TRUE(reloads(server, "reloaded"));
  EXPECT_EQ(server.client().predict({{"features", {{"3", 1}}}}).code, 200u);
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(ReloadTest, TheCurrentModelOfARegistryIsTaken) {
  run({"models", "add", "registry", "ids"});
  run({"models", "add", "registry", "other"});
  ServerProcess server{folder(), {"registry"}};
  const auto answered_by = [&] {
    return server.client().predict({{"features", {{"3", 1}}}}).json()["model"].get<std::string>();
  };
  const std::string first = answered_by();
  run({"models", "use", "registry", "other"});
  EXPECT_EQ(answered_by(), first);
  EXPECT_TRUE(reloads(server, "reloaded registry/other.slide ("));
  EXPECT_NE(answered_by(), first);
  run({"models", "rollback", "registry"});
  EXPECT_TRUE(reloads(server, "reloaded registry/ids.slide ("));
  EXPECT_EQ(answered_by(), first);
  fs::remove(slide_->path("registry/ids.slide"));
  EXPECT_TRUE(reloads(server, "its current model ids is gone"));
  EXPECT_EQ(answered_by(), first);
}

TEST_F(ReloadTest, AModelOfAnotherKindIsTakenOnlyWhenAsked) {
  const std::string text = read_file(slide_->path("text/model.slide"));
  const Json features = {{"features", {{"3", 1}}}}, words = {{"text", "a choir"}};
  {
    ServerProcess server = serve("place");
    put(text);
    EXPECT_TRUE(reloads(server, "the model takes text, the one before features"));
    EXPECT_EQ(server.client().predict(features).code, 200u);
    EXPECT_EQ(server.metric("slide_reloads_total{result=\"failed\"}"), 1);
    put(read_file(slide_->path("other/model.slide")));
    EXPECT_TRUE(reloads(server, "reloaded"));
    EXPECT_EQ(server.stop(), 0) << server.errors();
  }
  put(model_);
  ServerProcess server = serve("place", {"--any-kind"});
  put(text);
  EXPECT_TRUE(reloads(server, "reloaded"));
  EXPECT_EQ(server.client().predict(words).code, 200u);
}

}  // namespace
}  // namespace slide::test
