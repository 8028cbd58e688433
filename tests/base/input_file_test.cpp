// Tests of opening and reading what a user names: whole texts, and nothing without an end.
#include "engine/base/input_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include "tests/expect.h"
#include "tests/files.h"

namespace slide {
namespace {

namespace fs = std::filesystem;

class InputFileTest : public FolderTest {
 protected:
  static std::string refusal(const std::string& path, std::size_t max_bytes = 100) {
    return input_error([&] { read_text_file(path, "check the path", max_bytes); });
  }
};

TEST_F(InputFileTest, TextsAreReadWhole) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kMaxTextBytes / 3}) {
    std::string text(bytes, 'x');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 7);
    EXPECT_TRUE(read_text_file(write("text", text), "") == text) << bytes;
  }
  EXPECT_EQ(read_text_file("/proc/sys/kernel/ostype", ""), "Linux\n");  // of unknown length
  EXPECT_EQ(read_text_file("/dev/null", ""), "");
}

TEST_F(InputFileTest, PipesAreReadToTheirEnd) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string text(100000, 'y');
  std::thread writer([&] { write("pipe", text); });
  EXPECT_TRUE(read_text_file(path("pipe"), "") == text);
  writer.join();
}

TEST_F(InputFileTest, LongTextsAreRefusedUnread) {
  EXPECT_EQ(refusal(write("just", std::string(100, 'x'))), "");
  EXPECT_TRUE(contains(refusal(write("long", std::string(101, 'x'))), "more than 0.0001 MB"));
  write("sparse", "");
  fs::resize_file(path("sparse"), std::uintmax_t{1} << 40);
  EXPECT_TRUE(contains(refusal(path("sparse"), kMaxTextBytes), "more than 16.8 MB"));
}

TEST_F(InputFileTest, APipeWithoutAnEndIsLeft) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const Descriptor writer(open(path("pipe").c_str(), O_RDWR | O_CLOEXEC));  // stays open
  ASSERT_EQ(::write(writer.get(), std::string(101, 'z').data(), 101), 101);
  EXPECT_TRUE(contains(refusal(path("pipe")), "more than"));
}

TEST_F(InputFileTest, WhatIsNoTextIsToldApart) {
  EXPECT_TRUE(contains(refusal("/dev/zero"), "a device, which may have no end"));
  EXPECT_TRUE(contains(refusal(folder_.root()), "is a folder"));
  EXPECT_EQ(refusal(path("none")),
            path("none") + ": cannot be read (No such file or directory); check the path");
}

}  // namespace
}  // namespace slide
