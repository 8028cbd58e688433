// Atomic file creation: a file appears under its name only when it is complete.
//
// The content is written to the target folder first: into an unnamed file where the file system supports
// that, so that a killed program leaves nothing, else under a temporary name, NAME.PID.N.tmp. finish()
// flushes the content to disk, gives the file its name (replacing an old file) and flushes the folder:
// readers of the name, even after a crash, see the old or the new content, never a partial one. Destruction
// before finish() leaves nothing.
//
// write_at() is safe from several threads; all else from one thread at a time.
//
// A symbolic link stays and its target is replaced. A pipe or device cannot be replaced: it is opened and
// written directly, so that a failing program leaves partial output there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/descriptor.h"

namespace slide {

// How a file is used.
enum class FileUse {
  kSequential,  // named by the user, written sequentially
  kAnyOrder,    // named by the user, written in any order or read back: pipes and devices are refused
  kOwn,         // named by the program: replaces any existing file, link or device of that name
};

// Whether `path` exists and is neither a file nor a folder.
bool is_pipe_or_device(const std::string& path);

class AtomicFile {
 public:
  // Throws Error, with file and cause, where the folder is not writable or the disk is full; so do all
  // methods below. Throws InputError for a pipe or device that FileUse does not allow.
  explicit AtomicFile(std::string path, FileUse use = FileUse::kSequential);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Appends `bytes` after all bytes of earlier write() calls.
  void write(std::string_view bytes);
  // Writes `bytes` at `offset`; gaps that are never written read as zeros.
  void write_at(std::uint64_t offset, std::string_view bytes);
  void resize(std::uint64_t bytes);
  // Readable too while this object lives; mappings of it stay valid after the file is removed.
  int descriptor() const { return file_.get(); }
  void finish();
  // Finishes two files that belong together: the second gets its name directly after the first.
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
  std::string target_;     // target of path_, links resolved
  bool streams_ = false;   // a pipe or device, open from the first byte on
  std::string temporary_;  // empty before and after the file has its temporary name
  Descriptor file_;
  std::uint64_t written_ = 0;  // by write()
};

// Writes `content` to `path` in one call.
void write_file(const std::string& path, std::string_view content);

}  // namespace slide
