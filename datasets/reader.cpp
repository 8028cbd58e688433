#include "datasets/reader.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "datasets/file_bytes.h"
#include "datasets/idx.h"
#include "datasets/read_into.h"
#include "datasets/text_parser.h"
#include "engine/base/error.h"

namespace slide {

namespace {

// The first line that is neither blank nor a comment, without its comment.
std::string_view first_line_of_data(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

bool is_three_numbers(std::string_view line) {
  int numbers = 0;
  bool inside = false;
  for (const char c : line) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && c != ' ' && c != '\t' && c != '\r') return false;
    numbers += digit && !inside;
    inside = digit;
  }
  return numbers == 3;
}

DataFormat detect(std::string_view bytes, const std::string& origin) {
  if (is_idx_images(bytes)) return DataFormat::kIdx;
  const std::string_view line = first_line_of_data(bytes);
  if (line.empty()) fail_input("{}:1:1: the file is empty; check the path of the data", origin);
  if (is_three_numbers(line)) return DataFormat::kXmc;
  if (line.find(':') != std::string_view::npos && line.find('\0') == std::string_view::npos) {
    return DataFormat::kLibsvm;
  }
  fail_input(
      "{}:1:1: the format is not clear: neither a header 'samples features labels' nor a line 'label "
      "id:value' "
      "nor IDX images; name the format",
      origin);
}

ReadOptions with_format(ReadOptions options, std::string_view bytes, const std::string& origin) {
  if (options.format == DataFormat::kAuto) options.format = detect(bytes, origin);
  return options;
}

}  // namespace

std::string find_idx_labels(const std::string& images_path) {
  const std::string path = idx_labels_path(images_path);
  const std::string other = path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path + ".gz";
  std::error_code ignored;
  const bool use_other = !std::filesystem::exists(path, ignored) && std::filesystem::exists(other, ignored);
  return use_other ? other : path;
}

CsrSizes read_into(CsrSink& sink, const std::string& path, const ReadOptions& options,
                   std::size_t chunk_bytes) {
  const bool spill = sink.saves_memory();
  const FileBytes bytes(path, spill);
  const ReadOptions chosen = with_format(options, bytes.text(), path);
  if (chosen.format != DataFormat::kIdx) {
    return parse_text(TextSource{bytes.text(), path, spill ? &bytes : nullptr}, chosen, sink, chunk_bytes);
  }
  const std::string labels_path = find_idx_labels(path);
  const FileBytes labels(labels_path);
  return parse_idx({bytes.text(), path}, {labels.text(), labels_path}, chosen, sink);
}

Dataset read_dataset(const std::string& path, const ReadOptions& options) {
  MemorySink sink;
  const CsrSizes sizes = read_into(sink, path, options);
  return sink.take(sizes, options);
}

Dataset parse_dataset(std::string_view text, const std::string& origin, const ReadOptions& options) {
  const ReadOptions chosen = with_format(options, text, origin);
  if (chosen.format == DataFormat::kIdx) {
    fail_input("{}: IDX images need their labels file beside them; give the path of the images file", origin);
  }
  return parse_text(text, origin, chosen);
}

}  // namespace slide
