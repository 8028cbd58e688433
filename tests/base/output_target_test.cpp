// Tests of output paths that are not regular files: links, pipes and devices.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "engine/base/atomic_file.h"
#include "engine/base/descriptor.h"
#include "tests/expect.h"
#include "tests/files.h"

namespace slide {
namespace {

namespace fs = std::filesystem;

class OutputTargetTest : public FolderTest {
 protected:
  void SetUp() override { fs::create_directories(folder_ / "other"); }
  std::string text_of(const char* name) const { return read_file(path(name)); }
};

TEST_F(OutputTargetTest, WhatALinkLeadsToIsReplaced) {
  write_file(path("other/file"), "old");
  fs::create_symlink("other/file", folder_ / "link");
  fs::create_symlink(folder_ / "link", folder_ / "second");
  fs::create_symlink("other/none", folder_ / "dangling");
  write_file(path("second"), "new");
  write_file(path("dangling"), "first");
  for (const char* link : {"link", "second", "dangling"}) EXPECT_TRUE(fs::is_symlink(folder_ / link)) << link;
  EXPECT_EQ(text_of("other/file"), "new");
  EXPECT_EQ(text_of("other/none"), "first");
}

TEST_F(OutputTargetTest, ALinkInPlaceOfTheProgramsOwnFileIsReplaced) {
  write_file(path("other/file"), "old");
  fs::create_symlink("other/file", folder_ / "link");
  AtomicFile own(path("link"), FileUse::kOwn);
  own.write("new");
  own.finish();
  EXPECT_FALSE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(text_of("other/file"), "old");
}

TEST_F(OutputTargetTest, PipesAreWrittenTo) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  { const AtomicFile probe(path("pipe")); }  // does not wait for a reader
  std::string read;
  std::thread reader([&] { read = text_of("pipe"); });
  AtomicFile file(path("pipe"));
  file.write("one ");
  file.write("two");
  file.finish();
  reader.join();
  EXPECT_EQ(read, "one two");
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
  std::thread again([&] { read = text_of("pipe"); });
  write_file(path("pipe"), "");
  again.join();
  EXPECT_EQ(read, "");
}

TEST_F(OutputTargetTest, PipesAreRefusedForWhatIsNotWrittenInOrder) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", folder_ / "link");
  for (const char* name : {"pipe", "link"}) {
    const std::string message = input_error([&] { AtomicFile file(path(name), FileUse::kAnyOrder); });
    EXPECT_TRUE(message.starts_with(path(name) + ": this is a pipe or a device")) << message;
  }
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
}

// A device created by the test that accepts all writes.
TEST_F(OutputTargetTest, DevicesStayDevices) {
  const mode_t kind = S_IFCHR | 0600;
  if (mknod(path("null").c_str(), kind, makedev(1, 3)) != 0) GTEST_SKIP() << "no devices can be made here";
  if (!Descriptor(open(path("null").c_str(), O_WRONLY | O_CLOEXEC)).is_open()) GTEST_SKIP() << "nor opened";
  write_file(path("null"), "gone");
  fs::create_symlink("null", folder_ / "link");
  write_file(path("link"), "gone");
  EXPECT_TRUE(fs::is_character_file(folder_ / "null"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
}

}  // namespace
}  // namespace slide
