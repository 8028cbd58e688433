// Tests of the single-process cluster: it does with itself what a larger cluster does.
#include "engine/cluster/alone.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <vector>

#include "engine/base/error.h"
#include "tests/files.h"

namespace slide {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

class AloneFile : public FolderTest {
 protected:
  const std::string path_ = path("file");
};

TEST(Alone, IsTheOnlyRank) {
  const Alone cluster;
  EXPECT_EQ(cluster.rank(), 0);
  EXPECT_EQ(cluster.size(), 1);
  EXPECT_EQ(cluster.name().substr(0, 13), "rank 0 of 1 (");
}

TEST(Alone, GetsItsOwnPart) {
  Alone cluster;
  const auto mine = bytes_of("abc");
  std::vector<std::byte> theirs(3), all(3);
  const std::array<std::span<const std::byte>, 1> out{mine};
  const std::array<std::span<std::byte>, 1> in{theirs};
  cluster.start(0, out, in);
  cluster.poll();
  cluster.wait(0);
  EXPECT_EQ(theirs, mine);
  cluster.all_gather(mine, all);
  EXPECT_EQ(all, mine);
  cluster.broadcast(all, 0);
  cluster.barrier();
  EXPECT_EQ(all, mine);
  EXPECT_EQ(cluster.traffic().bytes_sent, 0u);
  EXPECT_EQ(cluster.traffic().messages, 0u);
}

TEST(Alone, SendsNothingAtAll) {
  Alone cluster;
  const std::array<std::span<const std::byte>, 1> out{};
  const std::array<std::span<std::byte>, 1> in{};
  cluster.start(3, out, in);
  cluster.wait(3);
  cluster.all_gather({}, {});
}

TEST(Alone, RefusesPartsThatDoNotFit) {
  Alone cluster;
  const auto mine = bytes_of("abc");
  std::vector<std::byte> theirs(2);
  const std::array<std::span<const std::byte>, 1> out{mine};
  const std::array<std::span<std::byte>, 1> in{theirs};
  EXPECT_THROW(cluster.start(0, out, in), Error);
  EXPECT_THROW(cluster.start(0, {}, {}), Error);
  EXPECT_THROW(cluster.all_gather(mine, theirs), Error);
}

TEST(Alone, EndsWithTheCodeOfAnAbort) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(Alone().abort(7), testing::ExitedWithCode(7), "");
}

TEST_F(AloneFile, TakesBytesAnywhere) {
  std::ofstream(path_) << "something longer that was there before";
  Alone cluster;
  const auto file = cluster.create(path_);
  file->write_at(4, bytes_of("efgh"));
  file->write_at(0, bytes_of("abcd"));
  file->write_at(9, bytes_of("j"));
  file->close();
  EXPECT_EQ(read_file(path_), std::string("abcdefgh\0j", 10));
}

TEST_F(AloneFile, CannotBeCreatedWithoutAFolder) {
  EXPECT_THROW(Alone().create("/nowhere/file"), Error);
}

TEST_F(AloneFile, TellsOfAFailedWriteWhenItIsClosed) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto file = Alone().create(path_);
  file->write_at(0, std::vector<std::byte>(200));
  file->write_at(0, std::vector<std::byte>(1));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THROW(file->close(), Error);
}

}  // namespace
}  // namespace slide
