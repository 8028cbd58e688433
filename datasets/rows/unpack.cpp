#include "datasets/rows/unpack.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/free_memory.h"

namespace slide {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 17;

bool is_gzip(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b");
}

// A frame, or a skippable frame, with which parallel compressors begin.
bool is_zstd(std::string_view bytes) {
  if (bytes.starts_with("\x28\xb5\x2f\xfd")) return true;
  return bytes.size() >= kPackedMagicBytes && (static_cast<unsigned char>(bytes[0]) & 0xf0) == 0x50 &&
         bytes.substr(1).starts_with("\x2a\x4d\x18");
}

// zlib stream that inflates gzip.
class Inflater {
 public:
  Inflater() {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) fail_run("out of memory: zlib could not be started");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream* operator->() { return &stream_; }
  z_stream* get() { return &stream_; }

 private:
  z_stream stream_{};
};

// Common state: the remaining input and the receiver of pieces.
class Unpacker {
 public:
  Unpacker(std::string_view input, const std::string& origin, const TakeUnpacked& take)
      : input_(input),
        origin_(origin),
        take_(take),
        piece_(std::make_unique_for_overwrite<char[]>(kPieceBytes)) {}

  void run() {
    if (is_zstd(input_)) return unpack_frames();
    do {
      if (!unpack_member()) return;
    } while (is_gzip(input_));
    // Zeros may fill the last block of a tape.
    if (input_.find_first_not_of('\0') != std::string_view::npos)
      fail_damaged("gzip", "other bytes follow its end");
  }

 private:
  // Decompresses one gzip member at the start of the input. Returns false to stop.
  bool unpack_member() {
    Inflater stream;
    int status = Z_OK;
    while (status != Z_STREAM_END) {
      const std::size_t step = std::min(input_.size(), kPieceBytes);
      stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));
      stream->avail_in = static_cast<uInt>(step);
      stream->next_out = reinterpret_cast<Bytef*>(piece_.get());
      stream->avail_out = static_cast<uInt>(kPieceBytes);
      status = inflate(stream.get(), Z_NO_FLUSH);
      input_.remove_prefix(step - stream->avail_in);
      if (!pass_on(kPieceBytes - stream->avail_out)) return false;
      if (status == Z_BUF_ERROR && input_.empty()) fail_cut_off("gzip");
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        fail_damaged("gzip", stream->msg != nullptr ? stream->msg : "unknown reason");
    }
    return true;
  }

  // Decompresses Zstandard to the end of the input, frame by frame.
  void unpack_frames() {
    const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> stream(ZSTD_createDCtx(), &ZSTD_freeDCtx);
    if (stream == nullptr) fail_run("out of memory: zstd could not be started");
    ZSTD_inBuffer in = {input_.data(), input_.size(), 0};
    std::size_t left = 1;  // of the frame; 0 at its end
    while (in.pos < in.size || left != 0) {
      ZSTD_outBuffer out = {piece_.get(), kPieceBytes, 0};
      const std::size_t before = in.pos;
      left = ZSTD_decompressStream(stream.get(), &out, &in);
      if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      if (ZSTD_isError(left) != 0) fail_damaged("zstd", ZSTD_getErrorName(left));
      input_.remove_prefix(in.pos - before);
      if (!pass_on(out.pos)) return;
      if (left != 0 && in.pos == before && out.pos == 0) fail_cut_off("zstd");
    }
  }

  bool pass_on(std::size_t bytes) {
    unpacked_ += bytes;
    return take_({piece_.get(), bytes}, input_.data());
  }

  [[noreturn]] void fail_cut_off(const char* kind) const {
    fail_input("{}: the {} data is cut off after {} unpacked bytes; fetch the file again", origin_, kind,
               unpacked_);
  }
  [[noreturn]] void fail_damaged(const char* kind, const char* reason) const {
    fail_input("{}: the {} data is damaged ({}); fetch the file again", origin_, kind, reason);
  }

  std::string_view input_;
  const std::string& origin_;
  const TakeUnpacked& take_;
  std::unique_ptr<char[]> piece_;  // kPieceBytes; untouched parts use no memory
  std::uint64_t unpacked_ = 0;
};

}  // namespace

bool is_packed(std::string_view bytes) {
  return is_gzip(bytes) || is_zstd(bytes);
}

// Names a packing by its magic bytes, for a message: it is not decompressed.
std::optional<std::string_view> other_packing(std::string_view bytes) {
  using namespace std::string_view_literals;
  constexpr std::size_t kLevelAt = 3, kBlockAt = 4;  // of bzip2: a digit, then the first block or the end
  const std::string_view block = bytes.substr(std::min(kBlockAt, bytes.size()));
  const bool has_block = block.starts_with("1AY&SY") || block.starts_with("\x17rE8P\x90");
  if (bytes.starts_with("BZh") && has_block && bytes[kLevelAt] >= '1' && bytes[kLevelAt] <= '9')
    return "bzip2";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kMagics = {{
      {"\xfd"
       "7zXZ\0"sv,
       "xz"},
      {"7z\xbc\xaf\x27\x1c"sv, "7-Zip"},
      {"\x04\x22\x4d\x18"sv, "lz4"},
      {"Rar!\x1a\x07"sv, "RAR"},
  }};
  for (const auto& [magic, name] : kMagics) {
    if (bytes.starts_with(magic)) return name;
  }
  return std::nullopt;
}

void unpack(std::string_view bytes, const std::string& origin, const TakeUnpacked& take) {
  Unpacker(bytes, origin, take).run();
}

std::string unpack(std::string_view bytes, const std::string& origin) {
  std::string text;
  unpack(bytes, origin, [&](std::string_view piece, const char*) {
    const std::size_t size = text.size() + piece.size();
    if (size > text.capacity()) {
      const std::size_t room = std::max(2 * text.capacity(), size);
      require_room(double(room), origin);
      text.reserve(room);
    }
    text.append(piece);
    return true;
  });
  return text;
}

// At least the first `limit` bytes, decompressed; fewer where `bytes` ends before. Damage is ignored.
std::string unpack_head(std::string_view bytes, std::size_t limit) {
  if (!is_packed(bytes)) return std::string(bytes.substr(0, limit));
  std::string head;
  try {
    unpack(bytes, "", [&](std::string_view piece, const char*) {
      head.append(piece);
      return head.size() < limit;
    });
  } catch (const InputError&) {
    // truncated at the end of the beginning
  }
  return head;
}

}  // namespace slide
