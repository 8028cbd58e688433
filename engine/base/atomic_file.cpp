#include "engine/base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "engine/base/error.h"

namespace slide {

namespace {

constexpr const char* kOpenFiles = "/proc/self/fd";  // through which a file without a name gets one
constexpr mode_t kMode = 0666;                       // less what the umask takes away

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
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

std::string AtomicFile::folder() const {
  const std::string parent = std::filesystem::path(path_).parent_path().string();
  return parent.empty() ? "." : parent;
}

// A name beside the path that no other object of this machine has.
std::string AtomicFile::unused_name() const {
  static std::atomic<unsigned> next{0};
  return fmt::format("{}.{}.{}.tmp", path_, getpid(), next.fetch_add(1));
}

void AtomicFile::write(std::string_view bytes) {
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
  // Some file systems cannot sync; they say EINVAL.
  if (fsync(file_.get()) != 0 && errno != EINVAL) fail("cannot be written", errno);
  if (!temporary_.empty() || !link_to(path_)) {
    while (temporary_.empty()) {
      if (std::string name = unused_name(); link_to(name)) temporary_ = std::move(name);
    }
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be renamed into place", errno);
    temporary_.clear();
  }
  sync_folder();
}

// Gives an unnamed file this name; returns whether there was none so far: a link cannot replace a file, a
// renaming can.
bool AtomicFile::link_to(const std::string& name) const {
  const std::string from = fmt::format("{}/{}", kOpenFiles, file_.get());
  if (linkat(AT_FDCWD, from.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
  if (errno != EEXIST) fail("cannot be given its name", errno);
  return false;
}

// Makes the name last through a crash. A folder that cannot be read, or a file system that cannot sync
// folders, leaves that to the system.
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
