#include "engine/base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "engine/base/error.h"

namespace slide {

namespace {

constexpr const char* kOpenFiles = "/proc/self/fd";  // to link an unnamed file
constexpr mode_t kMode = 0666;                       // before the umask

constexpr int kMaxLinks = 40;  // max links of a chain, as in the kernel

// End of a chain of symbolic links, whether a file exists there or not.
std::string target_of(const std::string& path) {
  namespace fs = std::filesystem;
  fs::path target(path);
  std::error_code error;
  for (int i = 0; i < kMaxLinks && fs::is_symlink(target, error); ++i) {
    const fs::path next = fs::read_symlink(target, error);
    if (error) return path;
    target = target.parent_path() / next;
  }
  return fs::is_symlink(target, error) ? path : target.string();
}

}  // namespace

bool is_pipe_or_device(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

// A pipe or device is opened at the first write; any other file is created beside its target.
AtomicFile::AtomicFile(std::string path, FileUse use) : path_(std::move(path)), target_(path_) {
  if (use != FileUse::kOwn) {
    streams_ = is_pipe_or_device(path_);
    if (!streams_) target_ = target_of(path_);
  }
  if (!streams_) {
    create();
  } else if (use == FileUse::kAnyOrder) {
    fail_input(
        "{}: this is a pipe or a device, but what is written here is not written from front to end; name a "
        "file",
        path_);
  } else if (access(path_.c_str(), W_OK) != 0) {
    fail("cannot be opened", errno);
  }
}

// Creates an unnamed file where the system can link one later, else a file with a temporary name.
void AtomicFile::create() {
  if (access(kOpenFiles, X_OK) == 0) {
    file_ = Descriptor(open(folder().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kMode));
  }
  while (!file_.is_open()) {
    temporary_ = unused_name();
    file_ = Descriptor(open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
    if (file_.is_open() || errno == EEXIST) continue;
    temporary_.clear();
    fail("cannot be created", errno);
  }
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* what, int reason) const {
  fail_run("{}: {} ({}); check the folder, its permissions and the space on its disk", path_, what,
           std::strerror(reason));
}

// Opens the stream only at the first write: a pipe's reader takes its closing as the end.
void AtomicFile::open_stream() {
  if (file_.is_open()) return;
  file_ = Descriptor(open(path_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  if (!file_.is_open()) fail("cannot be opened", errno);
}

void AtomicFile::end_stream() {
  open_stream();
  file_ = Descriptor();
}

void AtomicFile::write_stream(std::string_view bytes) {
  open_stream();
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string AtomicFile::folder() const {
  const std::string parent = std::filesystem::path(target_).parent_path().string();
  return parent.empty() ? "." : parent;
}

// A unique name beside the target on this machine.
std::string AtomicFile::unused_name() const {
  static std::atomic<unsigned> next{0};
  return fmt::format("{}.{}.{}.tmp", target_, getpid(), next.fetch_add(1));
}

void AtomicFile::write(std::string_view bytes) {
  if (streams_) return write_stream(bytes);
  write_at(written_, bytes);
  written_ += bytes.size();
}

void AtomicFile::write_at(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void AtomicFile::resize(std::uint64_t bytes) {
  if (ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) fail("cannot be written", errno);
}

void AtomicFile::finish() {
  if (streams_) return end_stream();
  sync();
  put_in_place();
  sync_folder();
}

// Flushes both files and gives both a temporary name first: then only two renames separate the old pair from
// the new one.
void AtomicFile::finish(AtomicFile& first, AtomicFile& second) {
  if (first.streams_ || second.streams_) {
    first.finish();
    return second.finish();
  }
  for (AtomicFile* file : {&first, &second}) {
    file->sync();
    file->name_temporarily();
  }
  for (AtomicFile* file : {&first, &second}) file->put_in_place();
  for (AtomicFile* file : {&first, &second}) file->sync_folder();
}

void AtomicFile::sync() {
  // EINVAL: the file system does not support fsync.
  if (fsync(file_.get()) != 0 && errno != EINVAL) fail("cannot be written", errno);
}

void AtomicFile::name_temporarily() {
  while (temporary_.empty()) {
    if (std::string name = unused_name(); link_to(name)) temporary_ = std::move(name);
  }
}

void AtomicFile::put_in_place() {
  if (temporary_.empty() && link_to(target_)) return;
  name_temporarily();
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be renamed into place", errno);
  temporary_.clear();
}

// Links an unnamed file to `name`. Returns false where the name exists: a link cannot replace a file, a
// rename can.
bool AtomicFile::link_to(const std::string& name) const {
  const std::string from = fmt::format("{}/{}", kOpenFiles, file_.get());
  if (linkat(AT_FDCWD, from.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
  if (errno != EEXIST) fail("cannot be given its name", errno);
  return false;
}

// Makes the name durable. Ignores folders that cannot be read and file systems that cannot sync folders.
void AtomicFile::sync_folder() const {
  const Descriptor parent(open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent.is_open() || fsync(parent.get()) == 0 || errno == EINVAL || errno == EBADF) return;
  fail("is in place, but its folder cannot be written", errno);
}

void write_file(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.finish();
}

}  // namespace slide
