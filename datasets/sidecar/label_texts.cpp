#include "datasets/sidecar/label_texts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "datasets/formats/detect.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/text_encoding.h"
#include "datasets/text/text_model.h"
#include "datasets/text/tokenizer.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"

namespace slide {

namespace {

LabelTexts::Line line_of_label(std::string_view line, const std::string& path, std::size_t number) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos)
    fail_input("{}:{}: no TAB stands between a label and its text; write 'NAME<TAB>text'", path, number);
  const LabelTexts::Line parts{trimmed(line.substr(0, tab)), trimmed(line.substr(tab + 1))};
  if (parts.label.empty()) fail_input("{}:{}: no label stands before the TAB; name one", path, number);
  if (has_control(parts.label)) fail_input("{}:{}: {}", path, number, kControlInLabel);
  return parts;
}

// A text with its label.
struct Placed {
  std::uint32_t label;
  std::string_view text;
};

}  // namespace

void refuse_foreign_label_texts(std::string_view text, const std::string& path, const char* wanted) {
  const std::optional<std::string> kind = foreign_kind(text);
  if (!kind) return;
  const std::string_view name = std::string_view(*kind).substr(0, kind->find_first_of(",;"));
  fail_input("{}:1:1: this is {}; texts of labels are read from {}", path, name, wanted);
}

void append_label_row(std::uint32_t label, std::span<const std::uint32_t> ids, std::span<const float> values,
                      DatasetArrays& arrays) {
  arrays.feature_ids.insert(arrays.feature_ids.end(), ids.begin(), ids.end());
  arrays.feature_values.insert(arrays.feature_values.end(), values.begin(), values.end());
  arrays.feature_offsets.push_back(arrays.feature_ids.size());
  arrays.label_ids.push_back(label);
  arrays.label_offsets.push_back(arrays.label_ids.size());
}

LabelTexts::LabelTexts(const std::string& path) {
  if (path == kNames) return;
  file_ = std::make_unique<const FileBytes>(path);
  std::string_view rest = without_byte_order_mark(file_->text());
  refuse_foreign_label_texts(rest, path, "a line 'NAME<TAB>text' for each label");
  for (std::size_t number = 1; !rest.empty(); ++number)
    lines_.push_back(line_of_label(take_line(rest), path, number));
  if (lines_.empty()) fail_input("{}:1: the file is empty; write 'NAME<TAB>text' for each label", path);
  warning_ = encoding_warning(file_->text(), path);
}

// Converts texts to rows by the model's vocabulary, ascending by label, texts of one label in their order.
// Unknown labels, and texts without known features, are counted and left out.
LabelTextRows label_text_rows(const LabelTexts& texts, const TextModel& names, bool normalize) {
  LabelTextRows result;
  std::vector<Placed> placed;
  texts.for_each(names.parts().label_names, [&](std::string_view label, std::string_view text) {
    if (const std::optional<std::uint32_t> id = names.label_id(label))
      placed.push_back({*id, text});
    else
      ++result.unknown;
  });
  std::ranges::stable_sort(placed, {}, &Placed::label);
  Tokenizer tokenizer(names.options());
  Row row;
  DatasetArrays arrays;
  for (const Placed& at : placed) {
    names.features_of(at.text, normalize, tokenizer, row);
    if (row.feature_count == 0) {
      ++result.empty;
      continue;
    }
    append_label_row(at.label, std::span(row.ids).first(row.feature_count),
                     std::span(row.values).first(row.feature_count), arrays);
  }
  result.rows = Dataset(std::move(arrays), names.feature_count(), names.label_count());
  return result;
}

}  // namespace slide
