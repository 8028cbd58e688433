// Access log of the server: one JSON object per line and answer. Each line is one write to a file opened for
// appending, so that several servers may share it. Lines that cannot be written are lost: no request waits
// for the log or fails because of it. One thread. Internal to the server.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "engine/base/descriptor.h"

namespace slide::serve {

struct Access {
  std::string_view client;  // address and port
  std::string_view method;  // empty, like the path, where no request was read
  std::string_view path;
  unsigned status = 0;
  std::size_t bytes_in = 0;   // bytes of the request read, header included
  std::size_t bytes_out = 0;  // bytes of the answer sent, header included
  std::size_t rows = 0;       // samples predicted
  double seconds = 0.0;       // from the request's last byte to the answer's last byte
  std::string_view model;     // fingerprint of the answering model, or empty
};

// Receives the messages of the server that are not answers. `event`: kind of message, "reload" or "warning".
using Log = std::function<void(std::string_view event, std::string_view line)>;

// A line of JSON about an event of the server, with its newline: {"time":..,"event":..,"message":..}.
std::string log_line(std::string_view event, std::string_view message);

class AccessLog {
 public:
  // `path`: the file, or "-" for standard output. Throws Error where it cannot be opened. `log` receives the
  // first write failure once, and must outlive this object.
  AccessLog(std::string path, const Log& log);

  void write(const Access& access);
  // Reopens the file (after log rotation); on failure keeps the old one, and write() tries again each second.
  void reopen();

  // The line for `access`, with its newline. Invalid UTF-8 is replaced; long paths are cut.
  static std::string line_of(const Access& access, std::chrono::system_clock::time_point time);

 private:
  void open_again();
  bool append(std::string_view bytes);
  void warn_once(int reason);

  const std::string path_;
  const Log& log_;
  Descriptor file_;
  bool warned_ = false;
  bool stale_ = false;  // the file could not be opened anew; file_ is the one before
  std::chrono::steady_clock::time_point tried_;
  bool torn_ = false;  // the last line is incomplete
};

}  // namespace slide::serve
