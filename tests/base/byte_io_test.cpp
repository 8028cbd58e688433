// Tests of ByteWriter and ByteReader: round trips, and refusal of wrong lengths before memory is allocated.
#include "engine/base/byte_io.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "engine/base/summed_file.h"
#include "tests/expect.h"
#include "tests/files.h"

namespace slide {
namespace {

using namespace std::string_view_literals;

ByteReader reader_of(std::string_view bytes) {
  return {bytes, "f: it is damaged", "copy it again"};
}

TEST(ByteIo, ValuesAreLittleEndianAndComeBack) {
  ByteString out;
  out.put<std::uint32_t>(0x01020304);
  out.put(1.5F);
  const std::vector<std::uint16_t> values = {5, 6, 7};
  out.put_values(values);
  out.put_values(std::span(values).subspan(1));
  out.put_array(values.data(), values.size());
  out.write("end");
  EXPECT_EQ(out.bytes().substr(0, 10), "\x04\x03\x02\x01\0\0\xc0\x3f\x05\0"sv);
  EXPECT_EQ(out.bytes().size(), 4U + 4 + 6 + 4 + 8 + 6 + 3);
  ByteCounter counter;
  counter.put_array(values.data(), values.size());
  EXPECT_EQ(counter.count(), 8U + 6);

  ByteReader in = reader_of(out.bytes());
  EXPECT_EQ(in.get<std::uint32_t>(), 0x01020304U);
  EXPECT_EQ(in.get<float>(), 1.5F);
  std::vector<std::uint16_t> back;
  in.get_vector(back, 3);
  EXPECT_EQ(back, values);
  std::array<std::uint16_t, 2> two{};
  in.get_values(two);
  EXPECT_EQ(two[1], 7);
  in.get_vector(back);
  EXPECT_EQ(back, values);
  EXPECT_EQ(in.left(), 3U);
  EXPECT_EQ(in.take(3), "end");
}

TEST(ByteIo, NothingIsSomething) {
  ByteString out;
  out.put_values(std::vector<float>());
  out.put_array<float>(nullptr, 0);
  EXPECT_EQ(out.bytes().size(), 8U);
  ByteReader in = reader_of(out.bytes());
  std::vector<float> values(3);
  in.get_vector(values);
  EXPECT_TRUE(values.empty());
}

TEST(ByteIo, RefusesWhatDoesNotFit) {
  ByteString out;
  out.put<std::uint64_t>(3);
  out.put<std::uint32_t>(0);
  const std::string_view bytes = out.bytes();
  EXPECT_EQ(input_error([&] { reader_of(bytes).take(13); }),
            "f: it is damaged (its parts do not fit its length); copy it again");
  EXPECT_EQ(input_error([&] { reader_of(bytes).expect(4, "another size"); }),
            "f: it is damaged (another size); copy it again");
  std::vector<std::uint64_t> values;
  const auto fills = [&](auto fill) {
    ByteReader in = reader_of(bytes);
    return input_error([&] { fill(in); }).find("do not fit") == std::string::npos;
  };
  EXPECT_FALSE(fills([&](ByteReader& in) { in.get_vector(values); }));
  EXPECT_FALSE(fills([&](ByteReader& in) { in.get_vector(values, 2); }));
  EXPECT_FALSE(fills([&](ByteReader& in) { in.get_vector(values, std::uint64_t{1} << 61); }));  // overflows
  EXPECT_FALSE(fills([&](ByteReader& in) { in.take(~std::uint64_t{0}); }));
  EXPECT_TRUE(fills([&](ByteReader& in) { in.get_vector(values, 1); }));
  ByteReader in = reader_of(bytes);
  EXPECT_EQ(input_error([&] { in.get_count(2, "too many"); }), "f: it is damaged (too many); copy it again");
  EXPECT_EQ(reader_of(bytes).get_count(1, "too many"), 3U);
}

TEST(SummedFile, EndsInItsChecksum) {
  const TemporaryFolder folder;
  const std::string path = folder.path("summed");
  SummedFile out(path);
  const std::string large(3 << 20, 'x');  // exceeds the reader's buffer
  out.write("12345");
  out.write(large);
  out.write("6789");
  out.finish();
  const std::string bytes = read_file(path);
  const auto checksum_of = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
    return SummedReader(Descriptor(open(path.c_str(), O_RDONLY)), content.size(), "f", "copy it").finish();
  };
  ASSERT_EQ(bytes.size(), large.size() + 9 + kFooterBytes);
  EXPECT_TRUE(bytes.ends_with("6789" + bytes.substr(large.size() + 9, 4) + "SLIDEEND"));
  EXPECT_EQ(checksum_of(bytes), crc_32(0, bytes.substr(0, large.size() + 9)));
  std::string flipped = bytes;
  flipped[77] ^= 1;
  EXPECT_TRUE(contains(input_error([&] { checksum_of(flipped); }), "wrong checksum"));
  for (const std::size_t kept : {std::size_t{0}, std::size_t{5}, bytes.size() - 1})
    EXPECT_TRUE(contains(input_error([&] { checksum_of(bytes.substr(0, kept)); }), "cut off"));
  std::filesystem::remove(path);
}

TEST(SummedFile, ChecksumsContinue) {
  EXPECT_EQ(crc_32(0, "123456789"), 0xcbf43926U);  // the standard check value of CRC-32
  EXPECT_EQ(crc_32(crc_32(0, "1234"), "56789"), 0xcbf43926U);
  EXPECT_EQ(crc_32(7, {}), 7U);
}

}  // namespace
}  // namespace slide
