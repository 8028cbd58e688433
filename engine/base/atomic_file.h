// A file that appears under its name only when it is whole.
//
// It is written under a temporary name in the same folder; finish() flushes it to the disk and renames it, so
// that whoever opens the name finds the old content or the new one, never a part. An object destroyed before
// finish() removes what it wrote. For one thread at a time.
#pragma once

#include <string>
#include <string_view>

namespace slide {

class AtomicFile {
 public:
  // Throws Error, here and below, when the folder cannot be written or the disk is full.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void finish();

 private:
  [[noreturn]] void fail(const char* what, int reason) const;
  void sync_folder() const;

  std::string path_;
  std::string temporary_;  // empty once renamed
  int descriptor_ = -1;
};

// Writes `content` to `path` in one go.
void write_file(const std::string& path, std::string_view content);

}  // namespace slide
