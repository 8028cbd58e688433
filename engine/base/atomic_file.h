// A file that appears under its name only when it is whole.
//
// Until then it lies in the folder it is meant for: without a name where the file system can do that, so that
// nothing is left behind by a program that is killed, else under a temporary one, NAME.PID.N.tmp. finish()
// flushes it to the disk, gives it its name in place of what was there, and flushes the folder: whoever opens
// the name, after a crash too, finds the old content or the new one, never a part. An object destroyed before
// finish() leaves nothing. write_at() is safe from several threads, the rest for one thread at a time.
//
// What a symbolic link leads to is replaced, and the link stays. A pipe or a device is nothing to replace: it
// is opened and written to, as far as it has come when a program fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/descriptor.h"

namespace slide {

// How a file is used.
enum class FileUse {
  kSequential,  // its user names it, and it is written from the first byte to the last
  kAnyOrder,    // the same, but in any order, or it is read: neither a pipe nor a device will do
  kOwn,         // the program gives it its name and replaces whatever has that, links and devices too
};

// Whether there is something other than a file or a folder.
bool is_pipe_or_device(const std::string& path);

class AtomicFile {
 public:
  // Throws Error that names file and cause, here and below, when the folder cannot be written or the disk is
  // full. Throws InputError for a pipe or a device that will not do.
  explicit AtomicFile(std::string path, FileUse use = FileUse::kSequential);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Puts `bytes` behind what write() has written so far.
  void write(std::string_view bytes);
  // Puts `bytes` at `offset` from the start; what lies between and was never written is zeros.
  void write_at(std::uint64_t offset, std::string_view bytes);
  void resize(std::uint64_t bytes);
  // Open for reading too, as long as this object lives: what it maps stays when the file goes.
  int descriptor() const { return file_.get(); }
  void finish();
  // Both, of which one without the other means little: the second gets its name right behind the first.
  static void finish(AtomicFile& first, AtomicFile& second);
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const char* what, int reason) const;
  std::string folder() const;
  std::string unused_name() const;
  void create();
  void open_stream();
  void end_stream();
  void write_stream(std::string_view bytes);
  void sync();
  void name_temporarily();
  void put_in_place();
  bool link_to(const std::string& name) const;
  void sync_folder() const;

  std::string path_;
  std::string target_;     // what path_ leads to
  bool streams_ = false;   // a pipe or a device, open from the first byte on
  std::string temporary_;  // empty while the file has no name, and again once it has its own
  Descriptor file_;
  std::uint64_t written_ = 0;  // by write()
};

// Writes `content` to `path` in one go.
void write_file(const std::string& path, std::string_view content);

}  // namespace slide
