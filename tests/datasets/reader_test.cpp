// Tests of files: opening, format detection, gzip, IDX images.
#include "datasets/reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <thread>

#include "datasets/formats/detect.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

const ReadOptions kRaw = {.normalize = false};
const std::string kXmcText = "2 10 5\n0,3 1:0.5 7:2\n4 9:1.25\n";
const Rows kXmcRows = {"0,3|1:0.5 7:2", "4|9:1.25"};

TEST(Reader, FindsTheFormat) {
  const TemporaryFolder folder;
  EXPECT_EQ(show(read_dataset(folder.write("a.txt", kXmcText), kRaw)), kXmcRows);
  EXPECT_EQ(show(read_dataset(folder.write("b.txt", "# c\n3 1:1\n"), kRaw)), Rows{"3|1:1"});
  EXPECT_EQ(show(read_dataset(folder.write("c.txt", "1:1 2:3"), kRaw)), Rows{"|1:1 2:3"});
  EXPECT_EQ(show(read_dataset(folder.write("a.gz", gzip(kXmcText)), kRaw)), kXmcRows);
  const std::string first = zstd(kXmcText.substr(0, 9)), rest = zstd(kXmcText.substr(9));
  const std::string skipped("\x50\x2a\x4d\x18\x02\0\0\0ab", 10);  // a skippable frame
  EXPECT_EQ(show(read_dataset(folder.write("a.zst", zstd(kXmcText)), kRaw)), kXmcRows);
  EXPECT_EQ(show(read_dataset(folder.write("two.zst", skipped + first + rest), kRaw)), kXmcRows);
  EXPECT_EQ(detect_file(folder.path("two.zst")), DataFormat::kXmc);
  EXPECT_EQ(show(read_dataset(folder.write("two.gz", gzip(kXmcText.substr(0, 9)) + gzip(kXmcText.substr(9))),
                              kRaw)),
            kXmcRows);
}

TEST(Reader, ReadsPipes) {
  const TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { folder.write("pipe", kXmcText); });
  const Dataset data = read_dataset(path, kRaw);
  writer.join();
  EXPECT_EQ(show(data), kXmcRows);
}

TEST(Reader, FileFaultsNameThePath) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& path) {
    return input_error([&] { read_dataset(path, kRaw); });
  };
  EXPECT_EQ(message(folder.path("none")), folder.path("none") + ": no such file; check the path of the data");
  EXPECT_EQ(message(folder.root()), folder.root() + ": is a folder; name a data file inside it");
  const std::string empty = folder.write("empty", "");
  EXPECT_EQ(message(empty), empty + ":1:1: the file is empty; check the path of the data");
  const std::string prose = folder.write("prose", "This is no data.\n");
  EXPECT_TRUE(message(prose).starts_with(prose + ":1:1: the format is not clear"));
  for (const char* text : {"ci: fix a test\nmore\n", "f(): a b\n"}) {
    const std::string path = folder.write("prose", text);
    EXPECT_TRUE(
        contains(message(path), ":1:1: the format is not clear: this looks like text without labels"));
  }
  for (const char* line : {"1 |f a b\n", "1 2.0 'tag|f a:0.5\n", "-1 | a b\n"})
    EXPECT_TRUE(contains(message(folder.write("vw", line)), "Vowpal Wabbit")) << line;
  for (const char* line : {"1 | 2 | 3\n", "| a | b |\n", "words |f a\n"})
    EXPECT_FALSE(contains(message(folder.write("vw", line)), "Vowpal Wabbit")) << line;
  const std::string cut = folder.write("cut.gz", gzip(kXmcText).substr(0, 30));
  EXPECT_TRUE(message(cut).starts_with(cut + ": the gzip data is cut off"));
  const std::string cut_zst = folder.write("cut.zst", zstd(kXmcText).substr(0, 20));
  EXPECT_TRUE(message(cut_zst).starts_with(cut_zst + ": the zstd data is cut off after "));
  std::string zst = zstd(kXmcText);
  zst[5] = static_cast<char>(zst[5] ^ 0x40);
  const std::string damaged_zst = folder.write("damaged.zst", zst + "x");
  EXPECT_TRUE(message(damaged_zst).starts_with(damaged_zst + ": the zstd data is ")) << message(damaged_zst);
  const std::string trailed = folder.write("trailed.zst", zstd(kXmcText) + "more than that");
  EXPECT_TRUE(message(trailed).starts_with(trailed + ": the zstd data is damaged"));
  std::string bytes = gzip(kXmcText);
  bytes[bytes.size() - 6] ^= 1;  // in the checksum
  const std::string damaged = folder.write("damaged.gz", bytes);
  EXPECT_TRUE(message(damaged).starts_with(damaged + ": the gzip data is damaged"));
  for (const std::string& more :
       {std::string("1 2:1\n"), gzip(kXmcText).replace(0, 1, "x"), std::string(5, '\0') + "1"}) {
    const std::string trailed_gz = folder.write("trailed.gz", gzip(kXmcText) + more);
    EXPECT_TRUE(
        message(trailed_gz).starts_with(trailed_gz + ": the gzip data is damaged (other bytes follow"));
  }
  EXPECT_EQ(message(folder.write("padded.gz", gzip(kXmcText) + std::string(512, '\0'))), "");
}

TEST(Reader, CommentsMayFollowFeatures) {
  const TemporaryFolder folder;
  EXPECT_EQ(show(read_dataset(folder.write("x", "1 1:1 # x\n2 2:1 # y: z\n"), kRaw)),
            (Rows{"1|1:1", "2|2:1"}));
}

TEST(Reader, MappedFilesMayEndAnywhere) {
  const TemporaryFolder folder;
  for (std::size_t pad = 4070; pad <= 4110; ++pad) {  // the end of the file crosses the end of a page
    std::string text = "1 10 5\n1" + std::string(pad, ' ') + "3:0.25";
    EXPECT_EQ(show(read_dataset(folder.write("x", text), kRaw)), Rows{"1|3:0.25"});
  }
}

std::string number(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

const std::string kPixels = {0, static_cast<char>(255), 0, 51, 0, 0, 0, 0, 3, 0, 4, 0};  // 3 images of 2 x 2
const std::string kImages = number(0x803) + number(3) + number(2) + number(2) + kPixels;
const std::string kLabels = number(0x801) + number(3) + std::string{7, 0, 2};
const std::string kImagesName = "t-images-idx3-ubyte", kLabelsName = "t-labels-idx1-ubyte";

TEST(Idx, ReadsPlainAndPackedImages) {
  const Rows rows = {"7|1:1 3:0.2", "0|", "2|0:0.011764706 2:0.015686275"};
  for (const bool packed : {false, true}) {
    const TemporaryFolder folder;
    const std::string suffix = packed ? ".gz" : "";
    folder.write(kLabelsName + suffix, packed ? gzip(kLabels) : kLabels);
    const std::string path = folder.write(kImagesName + suffix, packed ? gzip(kImages) : kImages);
    const Dataset data = read_dataset(path, kRaw);
    EXPECT_EQ(show(data), rows);
    EXPECT_EQ(data.feature_count(), 4U);
    EXPECT_EQ(data.label_count(), 8U);
    EXPECT_EQ(show(read_dataset(path))[2], "2|0:0.6 2:0.8");
  }
}

TEST(Idx, FindsLabelsPackedOtherwise) {
  const TemporaryFolder folder;
  folder.write(kLabelsName + ".gz", gzip(kLabels));
  EXPECT_EQ(read_dataset(folder.write(kImagesName, kImages), kRaw).size(), 3U);
}

std::string idx_error(const std::string& images, const std::string& labels, ReadOptions options = {}) {
  const TemporaryFolder folder;
  folder.write(kLabelsName, labels);
  options.format = DataFormat::kIdx;
  const std::string path = folder.write(kImagesName, images);
  std::string message = input_error([&] { read_dataset(path, options); });
  EXPECT_EQ(message.find(folder.root()), 0U) << message;
  return message.substr(std::min(message.size(), folder.root().size() + 1));
}

TEST(Idx, Faults) {
  EXPECT_TRUE(idx_error(kImages.substr(0, 20), kLabels)
                  .starts_with(kImagesName + ": 20 bytes, but its header needs 28"));
  EXPECT_TRUE(idx_error(kImages.substr(0, 9), kLabels).starts_with(kImagesName + ": 9 bytes are too few"));
  EXPECT_TRUE(idx_error(kImages + "x", kLabels).starts_with(kImagesName + ": 29 bytes"));
  EXPECT_TRUE(
      idx_error(kLabels + kLabels, kLabels).starts_with(kImagesName + ": the magic number is 0x00000801"));
  EXPECT_TRUE(idx_error(kImages, kImages).starts_with(kLabelsName + ": the magic number is 0x00000803"));
  EXPECT_TRUE(
      idx_error(kImages, kLabels + "x").starts_with(kLabelsName + ": 12 bytes, but its header needs 11"));
  EXPECT_TRUE(
      idx_error(kImages, number(0x801) + number(2) + "ab").starts_with(kLabelsName + ": 2 labels, but"));
  EXPECT_TRUE(
      idx_error(kImages, kLabels, {.label_limit = 7}).starts_with(kLabelsName + ": label 7 of image 0"));
  EXPECT_TRUE(
      idx_error(kImages, kLabels, {.feature_limit = 3}).starts_with(kImagesName + ": images of 4 pixels"));
  const std::string huge = number(0x803) + number(0xffffffff) + number(0xffff) + number(0xffff);
  EXPECT_TRUE(contains(idx_error(huge, kLabels), "16 bytes, but its header needs"));
}

TEST(Idx, LabelsMustLieBesideTheImages) {
  const TemporaryFolder folder;
  const std::string alone = folder.write(kImagesName, kImages);
  EXPECT_TRUE(
      input_error([&] { read_dataset(alone); }).starts_with(folder.path(kLabelsName) + ": no such file"));
  const std::string unnamed = folder.write("pictures", kImages);
  EXPECT_TRUE(input_error([&] { read_dataset(unnamed); }).starts_with(unnamed + ": IDX images must have"));
  EXPECT_TRUE(input_error([&] { parse_dataset(kImages, "stdin"); }).starts_with("stdin: IDX images need"));
}

}  // namespace
}  // namespace slide
