// Names of a model's labels: from the text it was trained on, or from a file with one name per line, label 0
// first. Immutable, safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "datasets/text/text_model.h"
#include "engine/model/model_file.h"

namespace slide {

// The lines of a file. Sets `warning` to a message where they are not UTF-8, else to "". Throws InputError
// where the file cannot be read.
NameList read_names(const std::string& file, std::string& warning);

class LabelNames {
 public:
  // `file`: names file, or empty: the model's own names. Throws InputError where the file cannot be read or
  // its number of names differs from the model's number of labels.
  LabelNames(const Model& model, const std::string& file);

  // A warning where the file is not UTF-8; else empty.
  const std::string& warning() const { return warning_; }
  // Whether labels have names.
  bool known() const { return text_ != nullptr || from_file_; }
  std::string_view operator[](std::uint32_t label) const {
    return from_file_ ? names_[label] : text_->label_name(label);
  }

 private:
  std::shared_ptr<const TextModel> text_;
  bool from_file_ = false;
  NameList names_;
  std::string warning_;
};

}  // namespace slide
