#include <zlib.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "datasets/formats/zip_archive.h"
#include "datasets/formats/zip_format.h"
#include "engine/base/byte_io.h"
#include "engine/base/error.h"
#include "engine/base/free_memory.h"
#include "engine/base/summed_file.h"

namespace slide {

namespace {

constexpr std::uint64_t kMaxRatio = 1032;  // max compression ratio of deflate
constexpr std::size_t kMaxComment = 0xFFFF;

// Reader of the bytes from `at` on; throws for missing bytes.
class Part final : public ByteReader {
 public:
  Part(const NamedBytes& file, std::uint64_t at)
      : ByteReader(file.bytes.substr(std::min<std::uint64_t>(at, file.bytes.size())),
                   file.path + ": this is no whole .npz file", "write or fetch it again") {}

  void expect_mark(std::string_view mark, std::string_view what) {
    if (take(mark.size()) != mark) refuse(what);
  }
};

[[noreturn]] void fail_damaged(const NamedBytes& file, const std::string& name, std::string_view how) {
  fail_input("{}: {} is damaged ({}); write or fetch the file again", file.path, name, how);
}

class RawInflater {
 public:
  RawInflater() {
    if (inflateInit2(&stream_, zip::kRawDeflate) != Z_OK)
      fail_run("out of memory: zlib could not be started");
  }
  ~RawInflater() { inflateEnd(&stream_); }
  RawInflater(const RawInflater&) = delete;
  RawInflater& operator=(const RawInflater&) = delete;

  // Decompresses to exactly fill `bytes`; returns an error, or nullopt.
  std::optional<std::string_view> unpack(std::string_view compressed, std::string& bytes) {
    std::uint64_t room = bytes.size();
    stream_.next_out = reinterpret_cast<Bytef*>(bytes.data());
    while (true) {
      refill(compressed, room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) break;
      const bool is_full = stream_.avail_out == 0 && room == 0;
      if (status == Z_BUF_ERROR) return is_full ? "longer than it says" : "cut off";
      if (status != Z_OK) return "no deflated bytes";
    }
    if (stream_.avail_out > 0 || room > 0) return "shorter than it says";
    return std::nullopt;
  }

 private:
  // zlib counts in 32 bits: refills its input and output, reducing both arguments.
  void refill(std::string_view& compressed, std::uint64_t& room) {
    constexpr std::uint64_t kMax = std::numeric_limits<uInt>::max();
    if (stream_.avail_in == 0) {
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
      stream_.avail_in = static_cast<uInt>(std::min<std::uint64_t>(compressed.size(), kMax));
      compressed.remove_prefix(stream_.avail_in);
    }
    if (stream_.avail_out == 0) {
      stream_.avail_out = static_cast<uInt>(std::min(room, kMax));
      room -= stream_.avail_out;
    }
  }

  z_stream stream_{};
};

struct Directory {
  std::uint64_t entries = 0, at = 0;
};

// Parses the end of the archive at `end`, which locates the directory.
Directory find_directory(const NamedBytes& file, std::size_t end) {
  Part part(file, end + 10);  // after the mark and disk numbers
  const auto entries = part.get<std::uint16_t>();
  part.skip(4);
  const auto at = part.get<std::uint32_t>();
  if (entries != zip::kSeeZip64Short && at != zip::kSeeZip64) return {entries, at};
  if (end < zip::kLocatorBytes) return {entries, at};
  Part locator(file, end - zip::kLocatorBytes);
  if (locator.take(zip::kEnd64Locator.size()) != zip::kEnd64Locator) return {entries, at};
  locator.skip(4);
  Part end64(file, locator.get<std::uint64_t>());
  end64.expect_mark(zip::kEnd64, "its end of 64 bits is missing");
  end64.skip(28);  // size, versions, disks, entries of this disk
  const auto entries64 = end64.get<std::uint64_t>();
  end64.skip(8);
  return {entries64, end64.get<std::uint64_t>()};
}

// Replaces placeholder numbers of an entry by the 64-bit numbers in its extra fields.
void read_extra(Part& part, std::uint64_t bytes, std::initializer_list<std::uint64_t*> numbers) {
  while (bytes >= 4) {
    const auto kind = part.get<std::uint16_t>();
    std::uint64_t size = part.get<std::uint16_t>();
    bytes -= 4;
    if (size > bytes) part.refuse("an extra field is longer than all");
    bytes -= size;
    for (std::uint64_t* number : numbers) {
      if (kind != zip::kZip64Field || *number != zip::kSeeZip64 || size < 8) continue;
      *number = part.get<std::uint64_t>();
      size -= 8;
    }
    part.skip(size);
  }
  part.skip(bytes);
}

// Reads one header of the central directory (PKWARE APPNOTE.TXT, 4.3.12), with sizes of ZIP64.
ZipEntry read_entry(Part& part) {
  part.expect_mark(zip::kEntry, "its directory is damaged");
  ZipEntry entry;
  part.skip(4);  // versions
  entry.flags = part.get<std::uint16_t>();
  entry.method = part.get<std::uint16_t>();
  part.skip(4);  // time and date
  entry.checksum = part.get<std::uint32_t>();
  entry.compressed = part.get<std::uint32_t>();
  entry.size = part.get<std::uint32_t>();
  const auto name = part.get<std::uint16_t>(), extra = part.get<std::uint16_t>(),
             comment = part.get<std::uint16_t>();
  part.skip(8);  // disk and attributes
  entry.header = part.get<std::uint32_t>();
  entry.name = part.take(name);
  read_extra(part, extra, {&entry.size, &entry.compressed, &entry.header});
  part.skip(comment);
  return entry;
}

// The compressed bytes of a member.
std::string_view compressed_bytes(const NamedBytes& file, const ZipEntry& entry) {
  Part part(file, entry.header);
  part.expect_mark(zip::kMember, "a member is missing");
  part.skip(22);
  const auto name = part.get<std::uint16_t>(), extra = part.get<std::uint16_t>();
  part.skip(std::uint64_t{name} + extra);
  if (part.left() < entry.compressed) part.refuse("a member is cut off");
  return file.bytes.substr(file.bytes.size() - part.left(), entry.compressed);
}

}  // namespace

ZipReader::ZipReader(const NamedBytes& file) : file_(file) {
  const std::string_view bytes = file_.bytes;
  const std::size_t last = bytes.size() < zip::kEndBytes
                               ? std::string_view::npos
                               : bytes.rfind(zip::kEnd, bytes.size() - zip::kEndBytes);
  if (last == std::string_view::npos || bytes.size() - last > zip::kEndBytes + kMaxComment)
    Part(file_, bytes.size()).refuse("its directory is missing");
  const Directory directory = find_directory(file_, last);
  Part part(file_, directory.at);
  for (std::uint64_t i = 0; i < directory.entries; ++i) entries_.push_back(read_entry(part));
}

bool ZipReader::has(std::string_view name) const {
  return std::ranges::any_of(entries_, [&](const ZipEntry& e) { return e.name == name; });
}

// Returns the whole content of a member, decompressed, after checking sizes and checksum. Throws InputError.
std::string ZipReader::read(const std::string& name) const {
  const auto entry =
      std::find_if(entries_.begin(), entries_.end(), [&](const ZipEntry& e) { return e.name == name; });
  if (entry == entries_.end())
    fail_input("{}: there is no {} in it; save a CSR matrix with scipy.sparse.save_npz", path(), name);
  const bool is_stored = entry->method == zip::kStored;
  if ((entry->flags & zip::kEncrypted) != 0 || (!is_stored && entry->method != zip::kDeflated)) {
    fail_input(
        "{}: {} is encrypted or packed otherwise than by deflate; save the matrix with "
        "scipy.sparse.save_npz",
        path(), name);
  }
  const std::string_view compressed = compressed_bytes(file_, *entry);
  // Bounds allocation: the archive's sizes are untrusted.
  if (is_stored ? entry->size != compressed.size() : entry->size / kMaxRatio > compressed.size())
    fail_damaged(file_, name, "its size cannot be true");
  require_room(double(entry->size), path());
  std::string bytes;
  if (is_stored) {
    bytes = compressed;
  } else {
    bytes.resize(entry->size);
    if (const auto fault = RawInflater().unpack(compressed, bytes)) fail_damaged(file_, name, *fault);
  }
  if (crc_32(0, bytes) != entry->checksum) fail_damaged(file_, name, "its checksum is another");
  return bytes;
}

}  // namespace slide
