#include "datasets/zip_archive.h"

#include <zip.h>

#include <string_view>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"

namespace slide {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 22;  // unpacked or written at once

// Why libzip failed.
class Reason {
 public:
  Reason() { zip_error_init(&error_); }
  ~Reason() { zip_error_fini(&error_); }
  Reason(const Reason&) = delete;
  Reason& operator=(const Reason&) = delete;
  zip_error_t* get() { return &error_; }
  const char* text() { return zip_error_strerror(&error_); }

 private:
  zip_error_t error_;
};

// Opens the archive in `source`, which may be nullptr and belongs to the archive then; nullptr with `reason`.
ZipHandle open_archive(zip_source_t* source, int flags, Reason& reason) {
  ZipHandle archive(source != nullptr ? zip_open_from_source(source, flags, reason.get()) : nullptr);
  if (archive == nullptr && source != nullptr) zip_source_free(source);
  return archive;
}

[[noreturn]] void fail_writing(const std::string& path, const char* reason) {
  fail_run("{}: the archive cannot be made ({}); check the memory of this machine", path, reason);
}

void add_member(const std::string& path, zip_t* archive, const ZipMember& member) {
  zip_source_t* source = zip_source_buffer(archive, member.bytes.data(), member.bytes.size(), 0);
  const zip_int64_t index =
      source == nullptr ? -1 : zip_file_add(archive, member.name.c_str(), source, ZIP_FL_OVERWRITE);
  if (index < 0) {
    zip_source_free(source);
    fail_writing(path, zip_strerror(archive));
  }
  const auto place = static_cast<zip_uint64_t>(index);
  zip_set_file_compression(archive, place, ZIP_CM_DEFLATE, 1);
  zip_file_set_dostime(archive, place, 0, 0x21, 0);  // 1980: the same bytes for the same data
}

void copy_out(const std::string& path, zip_source_t* packed, AtomicFile& file) {
  if (zip_source_open(packed) != 0) fail_writing(path, zip_error_strerror(zip_source_error(packed)));
  std::string piece(kPieceBytes, '\0');
  while (true) {
    const zip_int64_t bytes = zip_source_read(packed, piece.data(), piece.size());
    if (bytes < 0) fail_writing(path, zip_error_strerror(zip_source_error(packed)));
    if (bytes == 0) break;
    file.write(std::string_view(piece).substr(0, static_cast<std::size_t>(bytes)));
  }
  zip_source_close(packed);
}

}  // namespace

void ZipDiscard::operator()(zip* archive) const {
  zip_discard(archive);
}

ZipReader::ZipReader(const NamedBytes& file) : file_(file) {
  Reason reason;
  zip_source_t* source = zip_source_buffer_create(file.bytes.data(), file.bytes.size(), 0, reason.get());
  archive_ = open_archive(source, ZIP_RDONLY, reason);
  if (archive_ == nullptr)
    fail_input("{}: this is no whole .npz file ({}); write or fetch it again", path(), reason.text());
}

std::string ZipReader::read(const std::string& name) const {
  zip_file_t* member = zip_fopen(archive_.get(), name.c_str(), 0);
  if (member == nullptr) {
    fail_input("{}: there is no {} in it; save a CSR matrix with scipy.sparse.save_npz", path(), name);
  }
  const std::unique_ptr<zip_file_t, decltype(&zip_fclose)> owned(member, &zip_fclose);
  std::string bytes;
  while (true) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kPieceBytes);
    const zip_int64_t read = zip_fread(member, bytes.data() + before, kPieceBytes);
    if (read < 0) {
      fail_input("{}: {} is damaged ({}); write or fetch the file again", path(), name,
                 zip_error_strerror(zip_file_get_error(member)));
    }
    bytes.resize(before + static_cast<std::size_t>(read));
    if (read == 0) return bytes;
  }
}

void write_zip(const std::string& path, const std::vector<ZipMember>& members) {
  AtomicFile file(path);
  Reason reason;
  zip_source_t* source = zip_source_buffer_create(nullptr, 0, 0, reason.get());
  ZipHandle archive = open_archive(source, ZIP_TRUNCATE, reason);
  if (archive == nullptr) fail_writing(path, reason.text());
  zip_source_keep(source);  // the packed bytes outlive the archive
  const std::unique_ptr<zip_source_t, decltype(&zip_source_free)> packed(source, &zip_source_free);
  for (const ZipMember& member : members) add_member(path, archive.get(), member);
  if (zip_close(archive.get()) != 0) fail_writing(path, zip_strerror(archive.get()));
  static_cast<void>(archive.release());  // closed
  copy_out(path, source, file);
  file.finish();
}

}  // namespace slide
