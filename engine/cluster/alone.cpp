#include "engine/cluster/alone.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/cluster/parts.h"

namespace slide {

namespace {

// The shared file of a single process. Keeps the first failure until close(), as an MPI file does.
class PlainFile final : public SharedFile {
 public:
  explicit PlainFile(const std::string& path)
      : path_(path), file_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (!file_.is_open()) fail("cannot be created", errno);
  }

  // Writes nothing after a failure.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    while (!bytes.empty() && reason_ == 0) {
      const ssize_t written = pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        reason_ = written < 0 ? errno : EIO;
        return;
      }
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      offset += static_cast<std::uint64_t>(written);
    }
  }

  void close() override {
    // EINVAL: the file system does not support fsync.
    if (reason_ == 0 && fsync(file_.get()) != 0 && errno != EINVAL) reason_ = errno;
    file_ = Descriptor();
    if (reason_ != 0) fail("cannot be written", reason_);
  }

 private:
  [[noreturn]] void fail(const char* what, int reason) const {
    fail_run("{}: {} ({}); check the folder, its permissions and the space on its disk", path_, what,
             std::strerror(reason));
  }

  std::string path_;
  Descriptor file_;
  int reason_ = 0;  // errno of the first failure
};

}  // namespace

std::string Alone::name() const {
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return fmt::format("rank 0 of 1 ({})", host);
}

void Alone::start(int /*channel*/, ConstParts out, Parts in) {
  copy_own_part(out, in, 0, 1);
}

void Alone::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  check_gather(mine, all, 1);
  copy_bytes(mine, all);
}

void Alone::abort(int code) {
  std::fflush(nullptr);
  std::_Exit(code);
}

std::unique_ptr<SharedFile> Alone::create(const std::string& path) {
  return std::make_unique<PlainFile>(path);
}

}  // namespace slide
