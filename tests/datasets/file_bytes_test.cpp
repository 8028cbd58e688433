// Tests of FileBytes: complete content, which is the reader's own after reading.
#include "datasets/rows/file_bytes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/datasets/test_files.h"

namespace slide {
namespace {

namespace fs = std::filesystem;

// Never starts like gzip.
std::string bytes_without_pattern(std::size_t count) {
  std::string bytes(count, '\0');
  std::uint64_t state = 1;
  for (char& byte : bytes) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<char>(state >> 56);
  }
  if (count > 0) bytes[0] = 'x';
  return bytes;
}

TEST(FileBytes, AreWholeAtEverySize) {
  const TemporaryFolder folder;
  const std::size_t piece = std::size_t{1} << 22;
  const std::string content = bytes_without_pattern(2 * piece + 1);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{4096}, piece - 1, piece, piece + 1, 2 * piece + 1}) {
    const std::string part = content.substr(0, size);
    const std::string path = folder.write("data", part);
    for (const bool spill : {false, true}) EXPECT_TRUE(FileBytes(path, spill).text() == part) << size;
  }
}

// Of any text and any reader.
TEST(FileBytes, ComeWithoutAByteOrderMark) {
  const TemporaryFolder folder;
  const std::string marked = "\xef\xbb\xbfuser item\n";
  for (const std::string& content : {marked, gzip(marked), zstd(marked)}) {
    const std::string path = folder.write("data", content);
    for (const bool spill : {false, true}) EXPECT_EQ(FileBytes(path, spill).text(), "user item\n");
  }
  EXPECT_EQ(FileBytes(folder.write("data", "\xef\xbb\xbf")).text(), "");
  EXPECT_EQ(FileBytes(folder.write("data", "\xef\xbb")).text(), "\xef\xbb");
}

// Whatever they are read as.
TEST(FileBytes, PackedOtherwiseAreRefused) {
  using namespace std::string_view_literals;
  const TemporaryFolder folder;
  const auto fault = [&](std::string_view bytes) {
    const std::string path = folder.write("f", bytes);
    return input_error([&] { FileBytes file(path); });
  };
  EXPECT_TRUE(fault("\xfd"
                    "7zXZ\0\0"sv)
                  .ends_with("f:1:1: this is packed by xz; unpack it, or pack it by gzip"));
  EXPECT_TRUE(contains(fault("BZh91AY&SY\1"sv), "by bzip2"));
  EXPECT_TRUE(contains(fault("7z\xbc\xaf\x27\x1c\0"sv), "by 7-Zip"));
  EXPECT_TRUE(contains(fault("\x04\x22\x4d\x18."sv), "by lz4"));
  EXPECT_TRUE(contains(fault("Rar!\x1a\x07."sv), "by RAR"));
  EXPECT_EQ(fault("BZh9 a,b\n"sv), "");
}

TEST(FileBytes, StayWhenTheFileShrinks) {
  const TemporaryFolder folder;
  const std::string content = bytes_without_pattern(100'000);
  const std::string path = folder.write("data", content);
  const FileBytes bytes(path);
  fs::resize_file(path, 0);
  EXPECT_TRUE(bytes.text() == content);
}

// The file shrinks and grows as fast as possible until a reading meets a change.
TEST(FileBytes, OfAFileThatChangesMeanwhileAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data", "x");
  std::atomic<bool> done = false;
  std::atomic<int> changes = 0;
  std::thread changer([&] {
    while (!done) {
      fs::resize_file(path, 1);
      fs::resize_file(path, std::size_t{1} << 25);
      ++changes;
    }
  });
  std::string message;
  while (changes < 10'000 && message.empty()) message = run_error([&] { FileBytes bytes(path); });
  done = true;
  changer.join();
  EXPECT_EQ(message, path + ": it changed while it was read; start again when it is whole");
}

TEST(FileBytes, ThatUnpackToMoreThanIsFreeAreRefused) {
  if (kSanitized) GTEST_SKIP() << "memory is not limited under a sanitizer";
  const TemporaryFolder folder;
  const std::string content(100'000'000, '1');
  for (const std::string& path :
       {folder.write("data.gz", gzip(content)), folder.write("data.zst", zstd(content))}) {
    std::string message;
    {
      const AddressSpaceLimit limit(std::size_t{60} << 20);
      message = input_error([&] { FileBytes bytes(path); });
    }
    EXPECT_TRUE(message.starts_with(path + ": unpacked it takes ")) << message;
    EXPECT_EQ(FileBytes(path).text().size(), 100'000'000U);
  }
}

}  // namespace
}  // namespace slide
