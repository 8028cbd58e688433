// Tests of output paths that are not regular files: links, pipes and devices.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "engine/base/atomic_file.h"
#include "engine/base/descriptor.h"
#include "engine/base/error.h"

namespace slide {
namespace {

namespace fs = std::filesystem;

class OutputTargetTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("slide-output-target-{}", getpid());
    fs::create_directories(folder_ / "other");
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string at(const char* name) const { return (folder_ / name).string(); }
  std::string text_of(const char* name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  template <class Call>
  static std::string input_error_of(const Call& call) {
    try {
      call();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(OutputTargetTest, WhatALinkLeadsToIsReplaced) {
  write_file(at("other/file"), "old");
  fs::create_symlink("other/file", folder_ / "link");
  fs::create_symlink(folder_ / "link", folder_ / "second");
  fs::create_symlink("other/none", folder_ / "dangling");
  write_file(at("second"), "new");
  write_file(at("dangling"), "first");
  for (const char* link : {"link", "second", "dangling"}) EXPECT_TRUE(fs::is_symlink(folder_ / link)) << link;
  EXPECT_EQ(text_of("other/file"), "new");
  EXPECT_EQ(text_of("other/none"), "first");
}

TEST_F(OutputTargetTest, ALinkInPlaceOfTheProgramsOwnFileIsReplaced) {
  write_file(at("other/file"), "old");
  fs::create_symlink("other/file", folder_ / "link");
  AtomicFile own(at("link"), FileUse::kOwn);
  own.write("new");
  own.finish();
  EXPECT_FALSE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(text_of("other/file"), "old");
}

TEST_F(OutputTargetTest, PipesAreWrittenTo) {
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  { const AtomicFile probe(at("pipe")); }  // does not wait for a reader
  std::string read;
  std::thread reader([&] { read = text_of("pipe"); });
  AtomicFile file(at("pipe"));
  file.write("one ");
  file.write("two");
  file.finish();
  reader.join();
  EXPECT_EQ(read, "one two");
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
  std::thread again([&] { read = text_of("pipe"); });
  write_file(at("pipe"), "");
  again.join();
  EXPECT_EQ(read, "");
}

TEST_F(OutputTargetTest, PipesAreRefusedForWhatIsNotWrittenInOrder) {
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", folder_ / "link");
  for (const char* name : {"pipe", "link"}) {
    const std::string message = input_error_of([&] { AtomicFile file(at(name), FileUse::kAnyOrder); });
    EXPECT_TRUE(message.starts_with(at(name) + ": this is a pipe or a device")) << message;
  }
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
}

// A device created by the test that accepts all writes.
TEST_F(OutputTargetTest, DevicesStayDevices) {
  const mode_t kind = S_IFCHR | 0600;
  if (mknod(at("null").c_str(), kind, makedev(1, 3)) != 0) GTEST_SKIP() << "no devices can be made here";
  if (!Descriptor(open(at("null").c_str(), O_WRONLY | O_CLOEXEC)).is_open()) GTEST_SKIP() << "nor opened";
  write_file(at("null"), "gone");
  fs::create_symlink("null", folder_ / "link");
  write_file(at("link"), "gone");
  EXPECT_TRUE(fs::is_character_file(folder_ / "null"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
}

}  // namespace
}  // namespace slide
