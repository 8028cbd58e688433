// Writers of all output formats. Safe from any thread, for different files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "datasets/dataset.h"
#include "datasets/text_model.h"
#include "engine/base/atomic_file.h"

namespace slide {

// Output formats.
enum class FileFormat { kXmc, kLibsvm, kFastText, kTsv, kNpz };

struct NamedFormat {
  std::string_view name;
  FileFormat format;
};
inline constexpr NamedFormat kFileFormats[] = {{"xmc", FileFormat::kXmc},
                                               {"libsvm", FileFormat::kLibsvm},
                                               {"fasttext", FileFormat::kFastText},
                                               {"tsv", FileFormat::kTsv},
                                               {"npz", FileFormat::kNpz}};
// Format by its name in kFileFormats; nullopt for other words.
std::optional<FileFormat> format_of_word(std::string_view word);
// Format by file name extension; nullopt where unknown.
std::optional<FileFormat> format_of_name(const std::string& path);

inline bool is_text(FileFormat format) {
  return format == FileFormat::kFastText || format == FileFormat::kTsv;
}

// Writes lines to a file that appears when complete. One thread.
class LineFile {
 public:
  explicit LineFile(const std::string& path) : file_(path) {}
  std::string& text() { return text_; }  // of the current line
  void end_line();
  void finish();

 private:
  void flush_at(std::size_t bytes);

  AtomicFile file_;
  std::string text_;
};

// Appends a label to a line of text; `is_first` of the line; `where`: position for messages. Throws
// InputError for a name that the format cannot represent.
void append_label(std::string& line, FileFormat to, std::string_view name, bool is_first,
                  const std::string& where);
// Appends the separator between labels and text.
void end_labels(std::string& line, FileFormat to);

// Writes all samples to `path`, atomically; an .npz pair is named by its features (npz_paths). Text formats
// use the names of `text`, or without it label numbers and words f0, f1, .., repeated by count. Throws
// InputError for a name of the data (from `origin`) that the format cannot represent, Error where the file
// cannot be written.
void write_data(const Dataset& data, const std::string& path, FileFormat to, const TextModel* text,
                const std::string& origin);

}  // namespace slide
