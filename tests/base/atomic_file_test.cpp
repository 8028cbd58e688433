// Tests of AtomicFile: a file is complete or absent after any interruption.
#include "engine/base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include "tests/expect.h"
#include "tests/files.h"

namespace slide {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public FolderTest {
 protected:
  std::string path(const char* name = "file") const { return FolderTest::path(name); }
  std::string content(const char* name = "file") const { return read_file(path(name)); }
  std::size_t files() const { return folder_.files(); }
};

TEST_F(AtomicFileTest, AppearsWhenFinished) {
  write_file(path(), "old");
  AtomicFile file(path());
  file.write("new ");
  file.write("content");
  EXPECT_EQ(content(), "old");
  file.finish();
  EXPECT_EQ(content(), "new content");
  EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFileTest, LeavesNothingUnfinished) {
  write_file(path(), "old");
  {
    AtomicFile file(path());
    file.write("new");
  }
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFileTest, WritesAtPlaces) {
  AtomicFile file(path());
  file.resize(12);
  file.write("head");
  std::vector<std::thread> threads;
  for (const std::uint64_t place : {6, 8, 10})
    threads.emplace_back([&, place] { file.write_at(place, "ab"); });
  for (std::thread& thread : threads) thread.join();
  file.write("!");  // appends after the head
  file.write_at(0, "H");
  file.finish();
  EXPECT_EQ(content(), std::string("Head!\0ababab", 12));
}

TEST_F(AtomicFileTest, TwoThatBelongTogetherGetTheirNamesTogether) {
  for (const char* old : {"", "old"}) {
    if (*old != 0) write_file(path("a"), old), write_file(path("b"), old);
    AtomicFile a(path("a")), b(path("b"));
    a.write("of a");
    b.write("of b");
    AtomicFile::finish(a, b);
    EXPECT_EQ(content("a") + content("b"), "of aof b");
    EXPECT_EQ(files(), 2U);
  }
}

TEST_F(AtomicFileTest, CanBeReadBeforeItHasAName) {
  AtomicFile file(path());
  file.write("content");
  char bytes[8] = {};
  EXPECT_EQ(pread(file.descriptor(), bytes, sizeof bytes, 0), 7);
  EXPECT_STREQ(bytes, "content");
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(AtomicFileTest, ObeysTheUmask) {
  const mode_t before = umask(027);
  write_file(path(), "x");
  umask(before);
  struct stat status {};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, mode_t{0640});
}

TEST_F(AtomicFileTest, SeveralOfOneNameDoNotMix) {
  AtomicFile first(path()), second(path());
  first.write("first");
  second.write("second one");
  second.finish();
  EXPECT_EQ(content(), "second one");
  first.finish();
  EXPECT_EQ(content(), "first");
  EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFileTest, NamesWithoutAFolderAreOfTheWorkingFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.root());
  write_file("bare", "x");
  fs::current_path(before);
  EXPECT_EQ(content("bare"), "x");
}

TEST_F(AtomicFileTest, SaysWhichFileAndWhy) {
  const std::string missing = path("none/file");
  const std::string message = run_error([&] { AtomicFile file(missing); });
  EXPECT_TRUE(message.starts_with(missing + ": cannot be created (No such file or directory)")) << message;
  fs::create_directories(folder_ / "taken" / "inside");
  const std::string renamed = run_error([&] { write_file(path("taken"), "x"); });
  EXPECT_TRUE(renamed.starts_with(path("taken") + ": cannot be renamed into place (")) << renamed;
  EXPECT_EQ(files(), 1U);  // the folder
}

TEST_F(AtomicFileTest, SaysThatAFolderForbidsIt) {
  if (geteuid() == 0) GTEST_SKIP() << "root writes anywhere";
  fs::permissions(folder_.root(), fs::perms::owner_read | fs::perms::owner_exec);
  const std::string message = run_error([&] { AtomicFile file(path()); });
  fs::permissions(folder_.root(), fs::perms::owner_all);
  EXPECT_TRUE(message.starts_with(path() + ": cannot be created (Permission denied)")) << message;
}

// A file size limit simulates a full disk.
TEST_F(AtomicFileTest, FullDiskKeepsWhatWasThere) {
  write_file(path(), "old");
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 1000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = run_error([&] { write_file(path(), std::string(2000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(message.starts_with(path() + ": cannot be written (File too large)")) << message;
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFileTest, LeavesNothingOfAKilledProgramWhereFilesNeedNoName) {
  {
    AtomicFile file(path());
    if (files() > 0) GTEST_SKIP() << "this file system knows no files without names";
  }
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(path());
    file.write("half");
    raise(SIGKILL);
  }
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace slide
