#include <slide/data.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/rows/line_chunks.h"
#include "datasets/rows/read_report.h"
#include "datasets/text/labelled_text.h"
#include "datasets/text_learner.h"
#include "engine/api/csr_input.h"
#include "engine/api/internals.h"
#include "engine/base/foreign_text.h"
#include "engine/run/known_users.h"
#include "engine/run/unknown.h"

namespace slide::api {

namespace {

void check_rows(const std::vector<std::string_view>& texts, const CsrInput& rows) {
  if (rows.view.feature_offsets.size() == texts.size() + 1) return;
  fail_input("{} texts, but {} rows of labels; they must be of the same samples", texts.size(),
             rows.view.feature_offsets.size() - 1);
}

// The features of `data` with the labels `rows`, copied. Labels that the model lacks stay: they count as
// missed.
Dataset with_labels_of(const Dataset& data, const CsrInput& rows) {
  struct Both {
    Dataset features;
    std::vector<std::uint64_t> offsets;
    std::vector<std::uint32_t> labels;
  };
  const auto offsets = rows.view.feature_offsets;
  const auto labels = rows.view.feature_ids;
  const auto storage = std::make_shared<const Both>(
      Both{data, {offsets.begin(), offsets.end()}, {labels.begin(), labels.end()}});
  DatasetView view = data.view();
  view.label_offsets = storage->offsets;
  view.label_ids = storage->labels;
  return {storage, view, data.feature_count(), std::max(data.label_count(), rows.feature_count)};
}

// Texts with their labels; `rows` owns the label matrix and must outlive the result.
TextSamples samples_of(const std::vector<std::string_view>& texts, const CsrInput& rows,
                       const std::vector<std::string_view>& names) {
  check_rows(texts, rows);
  if (rows.feature_count > names.size())
    fail_input("labels: there are {} of them, but {} names", rows.feature_count, names.size());
  return {texts, rows.view.feature_offsets, rows.view.feature_ids, names};
}

void check_names(const std::vector<std::string_view>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty() || has_control(names[i])) {
      fail_input(
          "labels: the name '{}' of label {} is empty or has a line break, TAB or other control character; "
          "give another",
          shown_part(names[i]), i);
    }
  }
}

Data texts_read(const DataConfig& config, Dataset rows, std::shared_ptr<const TextModel> text,
                std::shared_ptr<const TextModel> before = nullptr, std::vector<std::string> warnings = {},
                std::uint64_t unknown_features = 0) {
  Data::Impl impl;
  impl.rows = std::move(rows);
  impl.warnings = std::move(warnings);
  impl.reading = Reading{config, std::move(text), nullptr, unknown_features, std::move(before)};
  return Internals::make<Data>(std::move(impl));
}

}  // namespace

// Learns a vocabulary from the texts, then converts them by it.
Data Data::learn_texts(const std::vector<std::string_view>& texts, const CsrMatrix& labels,
                       const std::vector<std::string_view>& label_names, const Config& config,
                       bool keep_labels) {
  return guarded([&] {
    const slide::Config& used = Internals::of(config);
    const int threads = static_cast<int>(used.train.threads);
    const CsrInput rows = take_csr(labels, {}, nullptr, "labels");
    check_names(label_names);
    const TextSamples samples = samples_of(texts, rows, label_names);
    const LabelIds ids = keep_labels ? LabelIds::kAsGiven : LabelIds::kByFrequency;
    std::shared_ptr<const TextModel> text = slide::learn_texts(samples, ids, used.text, threads);
    return texts_read(used.data, parse_texts(samples, *text, used.data.normalize, threads), text);
  });
}

Data Data::learn_more_texts(const std::vector<std::string_view>& texts, const CsrMatrix& labels,
                            const std::vector<std::string_view>& label_names, const Model& model) {
  return guarded([&] {
    const slide::Model& used = Internals::of(model)->model;
    if (used.text == nullptr) fail_input("the model was trained on features, not on text; use from_csr()");
    const int threads = static_cast<int>(used.config.train.threads);
    const CsrInput rows = take_csr(labels, {}, nullptr, "labels");
    check_names(label_names);
    const TextSamples samples = samples_of(texts, rows, label_names);
    const std::shared_ptr<const TextModel> text = slide::learn_more_texts(samples, *used.text, threads);
    return texts_read(used.config.data, parse_texts(samples, *text, used.config.data.normalize, threads),
                      text, used.text);
  });
}

namespace {

// A vocabulary that texts are read with. `dense`: columns that the samples have beside the texts.
struct Vocabulary {
  const DataConfig& config;
  const std::shared_ptr<const TextModel>& text;
  std::size_t dense = 0;
};

// A warning where most texts have no known word; empty ones do not count.
std::vector<std::string> texts_without_words(const std::vector<std::string_view>& texts,
                                             const Vocabulary& with, const Dataset& rows) {
  if (with.dense > 0 || has_items(with.text->form())) return {};
  Unknown unknown;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (is_blank_line(texts[i])) continue;
    ++count;
    unknown.empty_rows += rows.features(i).ids.empty() ? 1 : 0;
  }
  std::string warning = foreign_warning(unknown, "texts", count, FeatureKind::kWords);
  if (warning.empty()) return {};
  return {std::move(warning)};
}

// A warning of items of users that the model lacks.
std::vector<std::string> items_left_out(const Vocabulary& with, const Dataset& rows,
                                        const ReadReport& report) {
  if (!has_items(with.text->form()) || report.unknown_features == 0) return {};
  return {fmt::format("the samples: {} of {} items are none of the model's and are left out",
                      report.unknown_features, report.unknown_features + rows.feature_entries())};
}

// Parses `texts` with the vocabulary `with`; takes `labels`, one row per text, unless it is empty. At most
// one kind of warning: texts without known words, unknown items, or users without items.
Data texts_with(const std::vector<std::string_view>& texts, const Vocabulary& with, const CsrMatrix& labels) {
  ReadReport report;
  Dataset parsed = parse_texts({texts, {}, {}, {}}, *with.text, with.config.normalize, 0, &report);
  std::vector<std::string> warnings = texts_without_words(texts, with, parsed);
  const auto read = [&](Dataset rows) {
    if (warnings.empty()) warnings = items_left_out(with, rows, report);
    return texts_read(with.config, std::move(rows), with.text, nullptr, std::move(warnings),
                      report.unknown_features);
  };
  if (labels.offsets.size() == 0) {
    if (warnings.empty()) warnings = rows_without_items(with.config, parsed);
    return read(std::move(parsed));
  }
  const CsrInput rows = take_csr(labels, {}, nullptr, "labels");
  check_rows(texts, rows);
  return read(with_labels_of(parsed, rows));
}

}  // namespace

Data Data::from_texts(const std::vector<std::string_view>& texts, const Model& model,
                      const CsrMatrix& labels) {
  return guarded([&] {
    const slide::Model& used = Internals::of(model)->model;
    if (used.text == nullptr) fail_input("the model was trained on features, not on text; use from_csr()");
    return texts_with(texts, {used.config.data, used.text, used.shape.dense}, labels);
  });
}

Data Data::from_texts(const std::vector<std::string_view>& texts, const Data& learnt,
                      const CsrMatrix& labels) {
  return guarded([&] {
    if (!learnt.is_text()) fail_input("the training data are features, not text; use from_csr()");
    const Reading& reading = *learnt.impl_->reading;
    return texts_with(texts, {reading.options, reading.text, learnt.dense_columns()}, labels);
  });
}

}  // namespace slide::api
