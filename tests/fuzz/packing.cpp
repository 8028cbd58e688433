#include "tests/fuzz/packing.h"

#include <zlib.h>
#include <zstd.h>

#include <cstdint>

#include "engine/base/byte_io.h"
#include "engine/base/summed_file.h"
#include "tests/fuzz/fuzz.h"

namespace slide::fuzz {

std::string pack_gzip(std::string_view bytes) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  check(deflateInit2(&stream, 1, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib can be started");
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  check(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib packs within its bound");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string pack_zstd(std::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 1);
  check(ZSTD_isError(size) == 0, "zstd packs within its bound");
  packed.resize(size);
  return packed;
}

std::string stored_zip(const std::vector<std::pair<std::string, std::string>>& members) {
  ByteString file, directory;
  for (const auto& [name, bytes] : members) {
    ByteString
        header;  // version, flags, method, time, date; checksum and sizes; lengths of name and extra field
    for (const int value : {20, 0, 0, 0, 0x21}) header.put(static_cast<std::uint16_t>(value));
    header.put(crc_32(0, bytes));
    for (int i = 0; i < 2; ++i) header.put(static_cast<std::uint32_t>(bytes.size()));
    header.put(static_cast<std::uint16_t>(name.size()));
    header.put<std::uint16_t>(0);
    const auto at = static_cast<std::uint32_t>(file.bytes().size());
    for (const std::string_view part : {std::string_view("PK\x03\x04"), std::string_view(header.bytes())})
      file.write(part);
    file.write(name);
    file.write(bytes);
    directory.write("PK\x01\x02");
    directory.put<std::uint16_t>(20);  // version made by
    directory.write(header.bytes());
    for (int i = 0; i < 3; ++i) directory.put<std::uint16_t>(0);  // comment, disk, attributes
    directory.put<std::uint32_t>(0);
    directory.put(at);
    directory.write(name);
  }
  const auto begin = static_cast<std::uint32_t>(file.bytes().size());
  file.write(directory.bytes());
  file.write("PK\x05\x06");
  for (const std::size_t value : {std::size_t{0}, std::size_t{0}, members.size(), members.size()})
    file.put(static_cast<std::uint16_t>(value));
  file.put(static_cast<std::uint32_t>(directory.bytes().size()));
  file.put(begin);
  file.put<std::uint16_t>(0);
  return std::move(file).bytes();
}

}  // namespace slide::fuzz
