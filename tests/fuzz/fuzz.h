// Common parts of the fuzz targets: checks, rows of a data set, a step of a tiny network, a file in memory.
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "datasets/rows/dataset.h"
#include "datasets/rows/text_source.h"
#include "datasets/text/text_model.h"
#include "engine/base/error.h"
#include "engine/config/config.h"
#include "engine/model/model.h"

// A target accepts any bytes; an exception or the end of the process is a finding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace slide::fuzz {

// Ends the process with the message `what` unless `holds`.
void check(bool holds, const char* what);
// Checks that a message to the user is one line.
void check_message(std::string_view message);

// Calls `read`; returns false where it refuses its input, with the error in `message`.
template <class Refusal = InputError, class Read>
bool accepted(const Read& read, std::string& message) {
  try {
    read();
    return true;
  } catch (const Refusal& error) {
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

// Calls learn(chunk_bytes) for a text of `text_bytes` as one chunk and as several, and checks that models and
// messages are equal. Returns the model; nullptr where the text is refused.
template <class Learn>
std::shared_ptr<const TextModel> learn_same(std::size_t text_bytes, const Learn& learn) {
  std::shared_ptr<const TextModel> whole, cut;
  std::string why_whole, why_cut;
  accepted([&] { whole = learn(kDefaultChunkBytes); }, why_whole);
  accepted([&] { cut = learn(1 + text_bytes / 4); }, why_cut);
  check((whole != nullptr) == (cut != nullptr) && why_whole == why_cut,
        "chunks are accepted as the whole is");
  if (whole != nullptr) check(whole->to_bytes() == cut->to_bytes(), "chunks teach what the whole does");
  return whole;
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Removes the last byte of the input, which selects how to read the rest; 0 where there is none.
unsigned take_choice(std::string_view& input);

// Checks that ids ascend below the numbers of features and labels, and that values are finite.
void check_rows(const Dataset& data);
// Checks that two data sets are bitwise equal.
void check_same(const Dataset& a, const Dataset& b);

// Two layers of a few neurons with every component of a network; tables of four buckets; one thread.
Config tiny_config();
// A dozen samples of four features and three labels.
Dataset tiny_data();

// Trains a tiny network for a step on sufficiently small data, and predicts. Values must stay finite, so
// samples should have unit length.
void train_and_predict(const Dataset& data);
// Predicts a few samples in all ways; scores must be finite.
void predict(Model& model);

// A file in memory only.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Replaces its content.
  void write(std::string_view bytes) const;
  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

// A temporary folder, removed with its content.
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
