#include "datasets/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "engine/base/error.h"

namespace slide {

NewFile::NewFile(std::string path) : path_(std::move(path)) {
  const std::string parent = std::filesystem::path(path_).parent_path().string();
  file_ = Descriptor(open(parent.empty() ? "." : parent.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
  while (!file_.is_open()) {
    temporary_ = unused_name();
    file_ = Descriptor(open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file_.is_open() || errno == EEXIST) continue;
    temporary_.clear();
    fail("cannot be created", errno);
  }
}

NewFile::~NewFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void NewFile::fail(const char* what, int reason) const {
  fail_run("{}: {} ({}); check the folder, its permissions and the space on its disk", path_, what,
           std::strerror(reason));
}

// A name beside the path that no other object of this machine has.
std::string NewFile::unused_name() const {
  static std::atomic<unsigned> next{0};
  return fmt::format("{}.{}.{}.tmp", path_, getpid(), next.fetch_add(1));
}

void NewFile::resize(std::uint64_t bytes) {
  if (ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) fail("cannot be written", errno);
}

void NewFile::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = pwrite(file_.get(), from, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written", errno);
    from += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::size_t>(written);
  }
}

// Gives an unnamed file a temporary name: a link cannot replace a file, a renaming can.
void NewFile::name_it() {
  const std::string from = fmt::format("/proc/self/fd/{}", file_.get());
  while (temporary_.empty()) {
    const std::string name = unused_name();
    if (linkat(AT_FDCWD, from.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) temporary_ = name;
    if (temporary_.empty() && errno != EEXIST) fail("cannot be given its name", errno);
  }
}

void NewFile::publish() {
  // Some file systems cannot sync; they say EINVAL.
  if (fdatasync(file_.get()) != 0 && errno != EINVAL) fail("cannot be written", errno);
  name_it();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be renamed into place", errno);
  temporary_.clear();
}

}  // namespace slide
