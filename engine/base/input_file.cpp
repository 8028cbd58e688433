#include "engine/base/input_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "engine/base/error.h"

namespace slide {

namespace {

constexpr std::chrono::seconds kAwaitWriter(5);                // for the first one of a pipe
constexpr std::size_t kFirstTextBytes = std::size_t{1} << 12;  // that a text of unknown length begins with

// Whether a program has a pipe open for writing, or has written into it.
bool has_writer(int pipe) {
  int copy[2] = {-1, -1};
  if (pipe2(copy, O_CLOEXEC) != 0) return true;
  const Descriptor out(copy[0]), in(copy[1]);
  const ssize_t waiting = tee(pipe, in.get(), 1, SPLICE_F_NONBLOCK);  // takes nothing
  return waiting > 0 || (waiting < 0 && errno == EAGAIN);
}

// Waits until a named pipe has a writer; throws InputError after kAwaitWriter, as reading would block
// forever. Pipes of a shell have a writer from the start.
void await_writer(int pipe, const std::string& path) {
  struct statfs system {};
  if (fstatfs(pipe, &system) == 0 && system.f_type == PIPEFS_MAGIC) return;
  const auto end = std::chrono::steady_clock::now() + kAwaitWriter;
  while (!has_writer(pipe)) {
    if (std::chrono::steady_clock::now() > end)
      fail_input("{}: this is a pipe that no program writes into; start the writer first, or name a file",
                 path);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

[[noreturn]] void fail_length(const std::string& path, std::size_t max_bytes) {
  fail_input("{}: it has more than {:.3g} MB, which no such text has; name another file", path,
             double(max_bytes) / 1e6);
}

}  // namespace

void refuse_endless(int descriptor, const std::string& name) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return;
  const dev_t null = makedev(1, 3);
  if (S_ISBLK(status.st_mode) ||
      (S_ISCHR(status.st_mode) && status.st_rdev != null && isatty(descriptor) == 0))
    fail_input("{}: this is a device, which may have no end; name a file", name);
}

Descriptor open_input(const std::string& path) {
  struct stat named {};
  const bool is_pipe = stat(path.c_str(), &named) == 0 && S_ISFIFO(named.st_mode);
  Descriptor descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | (is_pipe ? O_NONBLOCK : 0)));
  if (descriptor.is_open()) refuse_endless(descriptor.get(), path);
  if (descriptor.is_open() && is_pipe) {
    await_writer(descriptor.get(), path);
    fcntl(descriptor.get(), F_SETFL, 0);
  }
  return descriptor;
}

// Reads to the end, as pipes and some files do not tell their length; doubles the text where it is full.
std::string read_text_file(const std::string& path, const std::string& advice, std::size_t max_bytes) {
  const Descriptor file = open_input(path);
  struct stat status {};
  if (!file.is_open() || fstat(file.get(), &status) != 0) {
    if (errno == ENOMEM) throw std::bad_alloc();
    fail_input("{}: cannot be read ({}); {}", path, std::strerror(errno), advice);
  }
  if (S_ISDIR(status.st_mode)) fail_input("{}: is a folder; name a file in it", path);
  const auto stated = static_cast<std::size_t>(S_ISREG(status.st_mode) ? status.st_size : 0);
  if (stated > max_bytes) fail_length(path, max_bytes);
  std::string text(std::max(stated + 1, kFirstTextBytes), '\0');  // a byte more shows the end
  for (std::size_t used = 0;;) {
    const ssize_t got = read(file.get(), text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      fail_input("{}: cannot be read ({}); check the file and its disk", path, std::strerror(errno));
    used += static_cast<std::size_t>(got);
    if (used > max_bytes) fail_length(path, max_bytes);
    if (got == 0) {
      text.resize(used);
      return text;
    }
    if (used == text.size()) text.resize(2 * text.size());
  }
}

}  // namespace slide
