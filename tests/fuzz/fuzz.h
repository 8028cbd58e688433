// What the fuzz targets share: checks, the rows of a data set, a step of a tiny network, a file in memory.
// For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "datasets/dataset.h"
#include "engine/base/error.h"
#include "engine/config/config.h"
#include "engine/run/model.h"

// A target takes any bytes; what it throws, and what ends the process, is a finding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace slide::fuzz {

// Ends the process, saying what does not hold.
void check(bool holds, const char* what);
// That a message to the user is one line.
void check_message(std::string_view message);

// Calls `read`; false when it refuses its input, in `message`.
template <class Read>
bool accepted(const Read& read, std::string& message) {
  try {
    read();
    return true;
  } catch (const InputError& error) {
    message = error.what();
    check_message(message);
    return false;
  }
}
template <class Read>
bool accepted(const Read& read) {
  std::string message;
  return accepted(read, message);
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Takes the last byte off the input, which chooses between ways to read the rest; 0 where there is none.
unsigned take_choice(std::string_view& input);

// That ids ascend below the numbers of features and labels, and values are finite.
void check_rows(const Dataset& data);
// That two data sets are the same to the bit.
void check_same(const Dataset& a, const Dataset& b);

// Two layers of a few neurons with all that a network can have; tables of four buckets; one thread.
Config tiny_config();
// A dozen samples of four features and three labels.
Dataset tiny_data();

// Trains a tiny network for a step on data that are small enough for that, and predicts. Values must stay
// finite, so samples should have unit length.
void train_and_predict(const Dataset& data);
// All ways to predict a few samples; scores must be finite.
void predict(Model& model);

// A file that lives in memory alone.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Replaces what is in it.
  void write(std::string_view bytes) const;
  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

// A folder that is removed with all it holds.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace slide::fuzz
