// A file without a name until it is whole.
//
// It lies in the folder it is meant for, unnamed where the file system can do that, so that nothing is left
// behind by a program that is killed; else under a temporary name. publish() flushes it to the disk and gives
// it its name, replacing what was there: whoever opens the name finds the old content or the new one. An
// object destroyed before that removes what it wrote. write_at is safe from several threads, the rest for one
// thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "datasets/descriptor.h"

namespace slide {

class NewFile {
 public:
  // Throws Error, here and below, when the folder cannot be written or the disk is full.
  explicit NewFile(std::string path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int descriptor() const { return file_.get(); }
  void resize(std::uint64_t bytes);
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes);
  void publish();

 private:
  [[noreturn]] void fail(const char* what, int reason) const;
  std::string unused_name() const;
  void name_it();

  std::string path_;
  std::string temporary_;  // empty while the file has no name, and again once it has its own
  Descriptor file_;
};

}  // namespace slide
