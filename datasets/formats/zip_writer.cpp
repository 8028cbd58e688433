#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "datasets/formats/zip_archive.h"
#include "datasets/formats/zip_format.h"
#include "engine/base/byte_io.h"
#include "engine/base/error.h"
#include "engine/base/summed_file.h"

namespace slide {

namespace {

constexpr std::size_t kDeflatedAtOnce = std::size_t{1} << 18;  // compressed bytes per write
constexpr int kLevel = 1;
constexpr std::uint16_t kDate = 0x21;  // 1980-01-01: equal data gives equal bytes
constexpr std::uint16_t kVersion = 20, kVersion64 = 45;
constexpr int kMemory = 8;  // zlib's default

class RawDeflater {
 public:
  RawDeflater() {
    if (deflateInit2(&stream_, kLevel, Z_DEFLATED, zip::kRawDeflate, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
      fail_run("out of memory: zlib could not be started");
  }
  ~RawDeflater() { deflateEnd(&stream_); }
  RawDeflater(const RawDeflater&) = delete;
  RawDeflater& operator=(const RawDeflater&) = delete;

  // Appends the compressed bytes to `file`; returns their number.
  std::uint64_t pack(std::string_view bytes, AtomicFile& file) {
    std::string piece(kDeflatedAtOnce, '\0');
    std::uint64_t compressed = 0;
    for (int status = Z_OK; status != Z_STREAM_END;) {
      if (stream_.avail_in == 0) {
        constexpr std::size_t kMax = std::numeric_limits<uInt>::max();
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        stream_.avail_in = static_cast<uInt>(std::min(bytes.size(), kMax));
        bytes.remove_prefix(stream_.avail_in);
      }
      stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream_.avail_out = static_cast<uInt>(piece.size());
      status = deflate(&stream_, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
      const std::size_t made = piece.size() - stream_.avail_out;
      file.write(std::string_view(piece).substr(0, made));
      compressed += made;
    }
    return compressed;
  }

 private:
  z_stream stream_{};
};

class ZipWriter {
 public:
  ZipWriter(AtomicFile& file, std::uint64_t zip64_from) : file_(file), zip64_from_(zip64_from) {}

  // Writes the local header twice: sizes and checksum are known after the data.
  void add(const ZipMember& member) {
    const bool is_large = member.bytes.size() >= zip64_from_ || at_ >= zip64_from_;
    const std::uint64_t begin = at_;
    const auto header = [&](std::uint64_t compressed, std::uint32_t checksum) {
      return header_of(member, is_large, compressed, checksum);
    };
    append(header(0, 0));
    const std::uint64_t compressed = RawDeflater().pack(member.bytes, file_);
    at_ += compressed;
    const std::uint32_t checksum = crc_32(0, member.bytes);
    file_.write_at(begin, header(compressed, checksum));
    add_entry(member, is_large, compressed, checksum, begin);
    ++count_;
  }

  // Writes the central directory and the end of the archive (4.3.16).
  void end() {
    const std::uint64_t directory = at_, bytes = directory_.bytes().size();
    append(directory_.bytes());
    if (directory >= zip64_from_) append_end64(directory, bytes);
    ByteString end;
    const bool is_large = directory >= zip64_from_;
    end.write(zip::kEnd);
    for (int i = 0; i < 2; ++i) end.put<std::uint16_t>(0);  // disks
    for (int i = 0; i < 2; ++i) end.put(static_cast<std::uint16_t>(count_));
    end.put(static_cast<std::uint32_t>(bytes));
    end.put(is_large ? zip::kSeeZip64 : static_cast<std::uint32_t>(directory));
    end.put<std::uint16_t>(0);  // comment
    append(end.bytes());
  }

 private:
  void append(std::string_view bytes) {
    file_.write(bytes);
    at_ += bytes.size();
  }

  // The fields that a local header (4.3.7) and a directory entry (4.3.12) share.
  static void put_shared_fields(ByteString& out, const ZipMember& member, bool is_large,
                                std::uint64_t compressed, std::uint32_t checksum) {
    out.put(is_large ? kVersion64 : kVersion);
    for (const std::uint16_t value : {std::uint16_t{0}, zip::kDeflated, std::uint16_t{0}, kDate})
      out.put(value);
    out.put(checksum);
    for (const std::uint64_t size : {compressed, std::uint64_t{member.bytes.size()}})
      out.put(is_large ? zip::kSeeZip64 : static_cast<std::uint32_t>(size));
    out.put(static_cast<std::uint16_t>(member.name.size()));
  }

  // The zip64 extra field (4.5.3): numbers that are kSeeZip64 elsewhere.
  static void put_extra(ByteString& out, std::initializer_list<std::uint64_t> numbers) {
    out.put(zip::kZip64Field);
    out.put(static_cast<std::uint16_t>(numbers.size() * sizeof(std::uint64_t)));
    for (const std::uint64_t number : numbers) out.put(number);
  }

  static std::string header_of(const ZipMember& member, bool is_large, std::uint64_t compressed,
                               std::uint32_t checksum) {
    ByteString header;
    header.write(zip::kMember);
    put_shared_fields(header, member, is_large, compressed, checksum);
    header.put<std::uint16_t>(is_large ? 20 : 0);
    header.write(member.name);
    if (is_large) put_extra(header, {member.bytes.size(), compressed});
    return std::move(header).bytes();
  }

  void add_entry(const ZipMember& member, bool is_large, std::uint64_t compressed, std::uint32_t checksum,
                 std::uint64_t begin) {
    directory_.write(zip::kEntry);
    directory_.put(is_large ? kVersion64 : kVersion);  // version made by
    put_shared_fields(directory_, member, is_large, compressed, checksum);
    directory_.put<std::uint16_t>(is_large ? 28 : 0);
    for (int i = 0; i < 3; ++i) directory_.put<std::uint16_t>(0);  // comment, disk, attributes
    directory_.put<std::uint32_t>(0);
    directory_.put(is_large ? zip::kSeeZip64 : static_cast<std::uint32_t>(begin));
    directory_.write(member.name);
    if (is_large) put_extra(directory_, {member.bytes.size(), compressed, begin});
  }

  // The zip64 end of central directory record (4.3.14) and its locator (4.3.15). `directory`: offset of the
  // central directory, of `bytes` bytes, which ends here.
  void append_end64(std::uint64_t directory, std::uint64_t bytes) {
    constexpr std::uint64_t kBytesThatFollow = 44;  // in the record
    ByteString end;
    end.write(zip::kEnd64);
    end.put(kBytesThatFollow);
    for (int i = 0; i < 2; ++i) end.put(kVersion64);        // made by, needed
    for (int i = 0; i < 2; ++i) end.put<std::uint32_t>(0);  // number of this disk, disk of the directory
    // entries on this disk, in total; size of the directory, its offset
    for (const std::uint64_t value : {count_, count_, bytes, directory}) end.put(value);
    end.write(zip::kEnd64Locator);
    end.put<std::uint32_t>(0);  // disk of the record
    end.put(at_);               // its offset
    end.put<std::uint32_t>(1);  // number of disks
    append(end.bytes());
  }

  AtomicFile& file_;
  std::uint64_t zip64_from_;
  std::uint64_t at_ = 0, count_ = 0;  // bytes and members written
  ByteString directory_;
};

}  // namespace

void write_zip(AtomicFile& file, const std::vector<ZipMember>& members, std::uint64_t zip64_from) {
  ZipWriter writer(file, zip64_from);
  for (const ZipMember& member : members) writer.add(member);
  writer.end();
}

}  // namespace slide
