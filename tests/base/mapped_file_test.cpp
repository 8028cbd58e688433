// Tests of mapped files: their content, and the file of an address.
#include "engine/base/mapped_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/descriptor.h"

namespace slide {
namespace {

Descriptor file_of(const std::string& content) {
  FILE* file = std::tmpfile();
  std::fputs(content.c_str(), file);
  std::fflush(file);
  Descriptor copy(dup(fileno(file)));
  std::fclose(file);
  return copy;
}

TEST(MappedFile, HoldsWhatTheFileHolds) {
  const Descriptor file = file_of("content");
  const MappedFile mapped(file.get(), 7, "name");
  ASSERT_TRUE(mapped.is_open());
  EXPECT_EQ(mapped.bytes(), "content");
  mapped.advise(mapped.bytes().substr(2, 3), 0);
  const MappedFile empty(file.get(), 0, "empty");
  EXPECT_FALSE(empty.is_open());
  EXPECT_EQ(empty.bytes(), "");
}

TEST(MappedFile, AddressesHaveTheirFilesPathWhileItIsMapped) {
  const Descriptor file = file_of("content");
  const char* first = nullptr;
  {
    MappedFile a(file.get(), 7, "a"), b(file.get(), 7, "b");
    first = a.bytes().data();
    EXPECT_STREQ(mapped_path(first), "a");
    EXPECT_STREQ(mapped_path(first + 6), "a");
    EXPECT_STREQ(mapped_path(b.bytes().data()), "b");
    const MappedFile moved = std::move(a);
    EXPECT_STREQ(mapped_path(first), "a");
  }
  EXPECT_EQ(mapped_path(first), nullptr);
  EXPECT_EQ(mapped_path(&first), nullptr);
  EXPECT_EQ(mapped_path(nullptr), nullptr);
}

TEST(MappedFile, AnyNumberMayBeMapped) {
  const Descriptor file = file_of("content");
  std::vector<MappedFile> all;
  for (int i = 0; i < 200; ++i) {
    all.emplace_back(file.get(), 7, "name");
    ASSERT_EQ(all.back().bytes(), "content");
  }
  all.clear();
  const MappedFile last(file.get(), 7, "last");
  EXPECT_STREQ(mapped_path(last.bytes().data()), "last");
}

}  // namespace
}  // namespace slide
