// The names of a model's labels: those of the text it was trained on, or those of a file with a name a line,
// label 0 first. Immutable once made, then safe to use from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "datasets/text_model.h"
#include "engine/run/model_file.h"

namespace slide {

// The lines of a file. Throws InputError when it cannot be read.
NameList read_names(const std::string& file);

class LabelNames {
 public:
  // `file`: of the names, or empty: those that the model has. Throws InputError when the file cannot be read
  // or holds another number of names than the model has labels.
  LabelNames(const Model& model, const std::string& file);

  // Whether labels have names at all.
  bool known() const { return text_ != nullptr || from_file_; }
  std::string_view operator[](std::uint32_t label) const {
    return from_file_ ? names_[label] : text_->label_name(label);
  }

 private:
  std::shared_ptr<const TextModel> text_;
  bool from_file_ = false;
  NameList names_;
};

}  // namespace slide
