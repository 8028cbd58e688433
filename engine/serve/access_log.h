// The access log of a server: one JSON object a line for each answer. A line is one write to a file open for
// appending, so that several servers may share it. What cannot be written is lost: no request waits for the
// log or fails with it. For one thread. Internal to the server.
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
  std::string_view method;  // empty, as the path, where no request was read
  std::string_view path;
  unsigned status = 0;
  std::size_t bytes_in = 0;   // of the request that were read, header included
  std::size_t bytes_out = 0;  // of the answer that were sent, header included
  std::size_t rows = 0;       // samples predicted
  double seconds = 0.0;       // from the request's last byte to the answer's
  std::string_view model;     // fingerprint of the one that answered, or empty
};

class AccessLog {
 public:
  using Tell = std::function<void(std::string_view line)>;

  // `path`: the file, "-" for standard output. Throws Error when it cannot be opened. `tell` hears once what
  // cannot be written, and must outlive it.
  AccessLog(std::string path, const Tell& tell);

  void write(const Access& access);
  // Opens the file anew, for it may have been renamed; when that fails, goes on with the one before.
  void reopen();

  // The line of `access`, with its end. Text that is no UTF-8 is replaced; long paths are cut.
  static std::string line_of(const Access& access, std::chrono::system_clock::time_point time);

 private:
  bool append(std::string_view bytes);
  void tell_once(int reason);

  const std::string path_;
  const Tell& tell_;
  Descriptor file_;
  bool told_ = false;
  bool torn_ = false;  // the last line has no end
};

}  // namespace slide::serve
