#include "engine/run/label_names.h"

#include "datasets/rows/file_bytes.h"
#include "datasets/rows/text_encoding.h"
#include "engine/base/error.h"

namespace slide {

// One name per line, blank lines included: line i names label i.
NameList read_names(const std::string& file, std::string& warning) {
  const FileBytes bytes(file);
  warning = encoding_warning(bytes.text(), file);
  NameList names;
  for (std::string_view rest = bytes.text(); !rest.empty();) {
    const std::size_t end = rest.find('\n');
    std::string_view name = rest.substr(0, end);
    if (name.ends_with('\r')) name.remove_suffix(1);
    names.add(name);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return names;
}

LabelNames::LabelNames(const Model& model, const std::string& file)
    : text_(model.text), from_file_(!file.empty()) {
  if (!from_file_) return;
  names_ = read_names(file, warning_);
  if (names_.size() != model.network.labels()) {
    fail_input("{}: {} names, but the model has {} labels; give one a line, label 0 first", file,
               names_.size(), model.network.labels());
  }
}

}  // namespace slide
