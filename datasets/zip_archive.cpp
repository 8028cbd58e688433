#include "datasets/zip_archive.h"

#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <string_view>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/base/free_memory.h"

namespace slide {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;  // unpacked at once, at most
constexpr std::uint64_t kMostRatio = 1032;                 // deflate packs no more bytes into one

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

// Where libzip puts an archive: a file that it takes for one that is not there yet.
class ZipOutput {
 public:
  explicit ZipOutput(const std::string& path) : file_(path) {}

  // What libzip calls, with a ZipOutput as `self`.
  static zip_int64_t call(void* self, void* data, zip_uint64_t bytes, zip_source_cmd_t command) noexcept {
    return static_cast<ZipOutput*>(self)->answer(data, bytes, command);
  }
  // Throws what writing has thrown, which cannot pass through libzip.
  void check() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }
  void finish() { file_.finish(); }

 private:
  zip_int64_t answer(void* data, zip_uint64_t bytes, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_WRITABLE;
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(error_.get(), data, bytes);
      case ZIP_SOURCE_WRITE:
        return write({static_cast<const char*>(data), bytes});
      case ZIP_SOURCE_SEEK_WRITE:
        return seek(zip_source_seek_compute_offset(at_, size_, data, bytes, error_.get()));
      case ZIP_SOURCE_TELL_WRITE:
        return static_cast<zip_int64_t>(at_);
      case ZIP_SOURCE_BEGIN_WRITE:
      case ZIP_SOURCE_COMMIT_WRITE:
      case ZIP_SOURCE_ROLLBACK_WRITE:
      case ZIP_SOURCE_FREE:
        return 0;
      default:
        zip_error_set(error_.get(), ZIP_ER_READ, ENOENT);  // nothing there to read
        return -1;
    }
  }
  zip_int64_t write(std::string_view bytes) {
    try {
      file_.write_at(at_, bytes);
    } catch (...) {
      thrown_ = std::current_exception();
      zip_error_set(error_.get(), ZIP_ER_WRITE, EIO);
      return -1;
    }
    at_ += bytes.size();
    size_ = std::max(size_, at_);
    return static_cast<zip_int64_t>(bytes.size());
  }
  zip_int64_t seek(zip_int64_t to) {
    if (to < 0) return -1;
    at_ = static_cast<zip_uint64_t>(to);
    return 0;
  }

  AtomicFile file_;
  Reason error_;
  std::exception_ptr thrown_;
  zip_uint64_t at_ = 0, size_ = 0;
};

// The content lies in memory, and what writing it throws comes by ZipOutput::check().
[[noreturn]] void fail_writing(const std::string& path, const char* reason) {
  fail_run("{}: out of memory: the archive cannot be made ({})", path, reason);
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
  zip_stat_t stated{};
  zip_stat(archive_.get(), name.c_str(), 0, &stated);
  require_room(double(stated.size), path());
  std::string bytes;
  // An archive may say anything; no more is asked for than it can hold.
  bytes.reserve(std::min(stated.size, kMostRatio * file_.bytes.size()) + 1);
  while (true) {
    const std::size_t before = bytes.size();
    if (before > stated.size) {
      fail_input("{}: {} is damaged (longer than it says); write or fetch the file again", path(), name);
    }
    const std::size_t piece =
        std::min<std::size_t>(kPieceBytes - 1, stated.size - before) + 1;  // one too many
    bytes.resize(before + piece);
    const zip_int64_t read = zip_fread(member, bytes.data() + before, piece);
    if (read < 0) {
      fail_input("{}: {} is damaged ({}); write or fetch the file again", path(), name,
                 zip_error_strerror(zip_file_get_error(member)));
    }
    bytes.resize(before + static_cast<std::size_t>(read));
    if (read == 0) return bytes;
  }
}

void write_zip(const std::string& path, const std::vector<ZipMember>& members) {
  ZipOutput output(path);
  Reason reason;
  zip_source_t* source = zip_source_function_create(&ZipOutput::call, &output, reason.get());
  ZipHandle archive = open_archive(source, ZIP_CREATE | ZIP_TRUNCATE, reason);
  if (archive == nullptr) fail_writing(path, reason.text());
  for (const ZipMember& member : members) add_member(path, archive.get(), member);
  const bool closed = zip_close(archive.get()) == 0;
  output.check();
  if (!closed) fail_writing(path, zip_strerror(archive.get()));
  static_cast<void>(archive.release());
  output.finish();
}

}  // namespace slide
