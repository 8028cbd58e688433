#include "engine/serve/access_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/error.h"

namespace slide::serve {

namespace {

// Max lengths shown: with each byte escaped, a line stays below 4096 bytes, which a pipe writes atomically.
constexpr std::size_t kMaxMethod = 32, kMaxPath = 512;
constexpr auto kTryAgain = std::chrono::seconds(1);

// O_NONBLOCK: never waits for a pipe without readers.
Descriptor open_log(const std::string& path) {
  if (path == "-") return Descriptor(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
  return Descriptor(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
}

std::string time_text(std::chrono::system_clock::time_point time) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = since / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", 1900 + parts.tm_year, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, since % 1000);
}

std::string ascii_json(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string log_line(std::string_view event, std::string_view message) {
  return fmt::format("{{\"time\":\"{}\",\"event\":{},\"message\":{}}}\n",
                     time_text(std::chrono::system_clock::now()), ascii_json(event), ascii_json(message));
}

AccessLog::AccessLog(std::string path, const Log& log)
    : path_(std::move(path)), log_(log), file_(open_log(path_)) {
  if (!file_.is_open())
    fail_run("--access-log {}: cannot be opened ({}); give another file", path_, std::strerror(errno));
}

std::string AccessLog::line_of(const Access& access, std::chrono::system_clock::time_point time) {
  return fmt::format(
      "{{\"time\":\"{}\",\"client\":{},\"method\":{},\"path\":{},\"status\":{},\"bytes_in\":{},\"bytes_out\":"
      "{},"
      "\"rows\":{},\"seconds\":{:.6f},\"model\":{}}}\n",
      time_text(time), ascii_json(access.client), ascii_json(access.method.substr(0, kMaxMethod)),
      ascii_json(access.path.substr(0, kMaxPath)), access.status, access.bytes_in, access.bytes_out,
      access.rows, access.seconds, access.model.empty() ? "null" : ascii_json(access.model));
}

void AccessLog::write(const Access& access) {
  if (stale_ && std::chrono::steady_clock::now() - tried_ > kTryAgain) open_again();
  const std::string line = line_of(access, std::chrono::system_clock::now());
  if (!append(torn_ ? "\n" + line : line)) warn_once(errno);
}

// Returns whether everything was written; else sets errno.
bool AccessLog::append(std::string_view bytes) {
  pollfd ready{file_.get(), POLLOUT, 0};
  if (poll(&ready, 1, 0) == 0) {  // standard output may be blocking
    errno = EAGAIN;
    return false;
  }
  errno = ENOSPC;  // for a short write, which does not set errno
  const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
  if (written > 0) torn_ = static_cast<std::size_t>(written) < bytes.size();
  return written == static_cast<ssize_t>(bytes.size());
}

void AccessLog::reopen() {
  warned_ = false;
  open_again();
}

void AccessLog::open_again() {
  tried_ = std::chrono::steady_clock::now();
  Descriptor file = open_log(path_);
  stale_ = !file.is_open();
  if (stale_) return warn_once(errno);
  file_ = std::move(file);
  torn_ = false;
}

void AccessLog::warn_once(int reason) {
  if (std::exchange(warned_, true)) return;
  log_("warning", fmt::format("--access-log {}: cannot be written ({}); requests are answered all the same",
                              path_, std::strerror(reason)));
}

}  // namespace slide::serve
