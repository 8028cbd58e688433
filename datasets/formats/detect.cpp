#include "datasets/formats/detect.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "datasets/formats/idx.h"
#include "datasets/formats/interaction_lines.h"
#include "datasets/formats/npz.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/text_encoding.h"
#include "datasets/rows/unpack.h"
#include "datasets/rows/xmc_header.h"
#include "engine/base/descriptor.h"
#include "engine/base/error.h"

namespace slide {

namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 16;     // examined bytes of a file
constexpr std::size_t kMaxHeadBytes = std::size_t{1} << 28;  // for a line that is longer
// compressed bytes to read for kHeadBytes: a Zstandard block
constexpr std::size_t kPackedHeadBytes = std::size_t{1} << 18;

// The first line that is neither blank nor a comment, without a trailing comment.
std::string_view first_line_of_data(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = take_line(text);
    line = line.substr(0, line.find('#'));
    if (!is_blank_line(line)) return line;
  }
  return {};
}

// Whether `head` contains the end of the first line of data, or is not text (has a zero byte).
bool has_whole_line(std::string_view head) {
  if (head.find('\0') != std::string_view::npos) return true;
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos) return false;
    const std::string_view line = head.substr(0, end);
    if (!is_blank_line(line.substr(0, line.find('#')))) return true;
    head.remove_prefix(end + 1);
  }
  return false;
}

// Unsupported formats by magic bytes at an offset.
struct Foreign {
  std::string_view magic;
  std::size_t place;
  std::string_view what;
};
using namespace std::string_view_literals;
constexpr Foreign kForeign[] = {
    {"SLIDEMDL"sv, 0,
     "a model of slide, no data; name the model first, then the data, and a model alone as a file, not by a "
     "pipe"},
    {"SLIDERUN"sv, 0, "a checkpoint of slide, no data; go on with its run by `slide train --resume`"},
    {"ustar"sv, 257, "a tar archive; unpack it and name a file of it"},
    {"\x93NUMPY"sv, 0,
     "a dense NumPy array; store it by scipy.sparse.save_npz, features and labels in a file each"},
    {"\x89HDF"sv, 0, "HDF5, which is not read; write XMC text, libsvm or an .npz pair"},
    {"PAR1"sv, 0, "Parquet, which is not read; write a sample a line, as 'label,label<TAB>text'"},
};

// Whether the text begins like a JSON object or array. Lines of other formats do not.
bool is_json(std::string_view text) {
  const auto skip_blanks = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  };
  skip_blanks();
  if (!text.starts_with('{') && !text.starts_with('[')) return false;
  text.remove_prefix(1);
  skip_blanks();
  return text.starts_with('"') || text.starts_with('{') || text.starts_with('[');
}

}  // namespace

std::optional<std::string> foreign_kind(std::string_view bytes) {
  for (const Foreign& known : kForeign) {
    if (bytes.size() > known.place && bytes.substr(known.place).starts_with(known.magic))
      return std::string(known.what);
  }
  if (const auto packing = other_packing(bytes))
    return fmt::format("packed by {}; unpack it, or pack it by gzip", *packing);
  if (const auto wide = wide_encoding(bytes)) return in_wide_encoding(*wide);
  bytes = without_byte_order_mark(bytes);
  if (is_json(bytes)) {
    if (trimmed(bytes.substr(0, 256)).starts_with('['))
      return "a JSON array; write its objects one a line (jq -c '.[]' FILE) and name their columns by "
             "data.text "
             "and data.labels";
    return "JSON, of which objects are read, one a line, whose text and labels data.text and data.labels "
           "name";
  }
  if (first_line_of_data(bytes).find('\0') != std::string_view::npos)
    return "binary data; check the path of the data";
  return std::nullopt;
}

bool has_line_of_data(std::string_view text) {
  return !first_line_of_data(text).empty();
}

// Tests from the most specific sign to the weakest: magic bytes, logs, headers, then the form of the first
// line.
std::optional<DataFormat> detect_format(std::string_view bytes) {
  if (is_idx_images(bytes)) return DataFormat::kIdx;
  if (is_npz(bytes)) return DataFormat::kNpz;
  bytes = without_byte_order_mark(bytes);
  if (is_json(bytes)) return std::nullopt;
  if (looks_like_log(bytes.substr(0, kHeadBytes))) return DataFormat::kInteractions;
  const std::string_view line = first_line_of_data(bytes);
  if (has_xmc_header(line) || has_features_header(bytes)) return DataFormat::kXmc;
  if (looks_like_features(line)) return DataFormat::kLibsvm;
  if (find_text_form(bytes)) return DataFormat::kText;
  if (line.starts_with('{')) return DataFormat::kJsonl;
  const bool is_binary = line.find('\0') != std::string_view::npos;
  const bool has_features = line.find(':') != std::string_view::npos && !is_prose_with_colon(line);
  return has_features && !is_binary ? std::optional(DataFormat::kLibsvm) : std::nullopt;
}

// The first bytes of a regular file, decompressed; empty for pipes, folders and missing files.
std::string head_of_file(const std::string& named) {
  const std::string path = parts_of(named).front();
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return {};
  // Reads more until the head has a whole line, up to kMaxHeadBytes.
  for (std::size_t wanted = kPackedHeadBytes;; wanted *= 4) {
    std::string packed(wanted, '\0');
    const ssize_t bytes = read_at(file.get(), packed.data(), packed.size(), 0);
    packed.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
    const std::size_t max_bytes = kHeadBytes * (wanted / kPackedHeadBytes);
    std::string head = unpack_head(packed, max_bytes);
    const bool is_whole_file = packed.size() < wanted && head.size() < max_bytes;
    if (is_whole_file || wanted >= kMaxHeadBytes || has_whole_line(head)) return head;
  }
}

std::optional<DataFormat> detect_file(const std::string& path) {
  const std::string head = head_of_file(path);
  return head.empty() ? std::nullopt : detect_format(head);
}

std::string_view name_of(DataFormat format) {
  switch (format) {
    case DataFormat::kXmc:
      return "XMC text";
    case DataFormat::kLibsvm:
      return "libsvm text";
    case DataFormat::kIdx:
      return "IDX images";
    case DataFormat::kText:
      return "labelled text";
    case DataFormat::kNpz:
      return "a pair of .npz matrices";
    case DataFormat::kJsonl:
      return "JSON lines";
    case DataFormat::kCsv:
      return "CSV";
    case DataFormat::kTsv:
      return "TSV";
    case DataFormat::kInteractions:
      return "a log of interactions";
    case DataFormat::kAuto:
      break;
  }
  return "data of no clear format";
}

}  // namespace slide
