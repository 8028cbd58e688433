#include <slide/data.h>

#include <algorithm>

#include "datasets/labelled_text.h"
#include "datasets/reader.h"
#include "datasets/row_parser.h"
#include "datasets/tokenizer.h"
#include "engine/api/csr_input.h"
#include "engine/api/internals.h"
#include "engine/base/aligned.h"
#include "engine/base/parallel.h"
#include "engine/run/run_data.h"

namespace slide::api {

namespace {

constexpr std::size_t kRowsAtOnce = 1024;

// Rows whose values are their own.
struct ScaledStorage {
  AlignedArray<float> values;
  std::shared_ptr<const void> rest;
};

// The features of texts, in their order.
DatasetArrays features_of(const std::vector<std::string_view>& texts, const TextModel& model,
                          bool normalize) {
  DatasetArrays arrays;
  Tokenizer tokenizer(model.options());
  Row row;
  for (const std::string_view text : texts) {
    model.features_of(text, normalize, tokenizer, row);
    const auto count = static_cast<std::ptrdiff_t>(row.feature_count);
    arrays.feature_ids.insert(arrays.feature_ids.end(), row.ids.begin(), row.ids.begin() + count);
    arrays.feature_values.insert(arrays.feature_values.end(), row.values.begin(), row.values.begin() + count);
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
  }
  arrays.label_offsets.assign(texts.size() + 1, 0);
  return arrays;
}

Data read_with(const DataConfig& config, Dataset rows, std::shared_ptr<const TextModel> text) {
  Data::Impl impl;
  impl.rows = std::move(rows);
  impl.reading = Reading{config, std::move(text)};
  return Internals::make<Data>(std::move(impl));
}

}  // namespace

Dataset scaled_rows(const Data::Impl& data, const DataConfig& config) {
  if (!config.normalize || data.reading) return data.rows;
  const auto storage = std::make_shared<ScaledStorage>();
  DatasetView view = data.view;
  storage->values = AlignedArray<float>(view.feature_values.size());
  storage->rest = data.storage;
  const std::size_t rows = data.rows.size(), parts = (rows + kRowsAtOnce - 1) / kRowsAtOnce;
  parallel_for(parts, available_threads(), [&](std::size_t part, int) {
    for (std::size_t row = part * kRowsAtOnce; row < std::min(rows, (part + 1) * kRowsAtOnce); ++row) {
      const std::uint64_t first = view.feature_offsets[row], count = view.feature_offsets[row + 1] - first;
      float* const values = storage->values.data() + first;
      std::copy_n(view.feature_values.data() + first, count, values);
      scale_to_unit_length(values, count);
    }
  });
  view.feature_values = storage->values.span();
  return Dataset(storage, view, data.rows.feature_count(), data.rows.label_count());
}

Data::Data(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Data Data::from_csr(const CsrMatrix& features, const CsrMatrix& labels,
                    std::shared_ptr<const void> keep_alive) {
  return guarded([&] {
    CsrInput input = take_csr(features, labels, std::move(keep_alive));
    Dataset rows(input.storage, input.view, input.feature_count, input.label_count);
    return Internals::make<Data>(
        {std::move(rows), std::nullopt, input.view, std::move(input.storage), input.copied_bytes});
  });
}

Data Data::read(const std::string& path, const Config& config) {
  return guarded([&] {
    slide::Config chosen = Internals::of(config);
    chosen.data.train = path;
    chosen.data.test.clear();
    RunData read = read_run_data(chosen, static_cast<int>(chosen.train.threads));
    return read_with(chosen.data, std::move(read.train), std::move(read.text));
  });
}

Data Data::read(const std::string& path, const Model& model) {
  return guarded([&] {
    const slide::Model& used = Internals::of(model)->model;
    ReadOptions options = model_read_options(used.config.data, used.shape.features, used.text, 0);
    return read_with(used.config.data, read_dataset(path, options), used.text);
  });
}

Data Data::from_texts(const std::vector<std::string_view>& texts, const Model& model) {
  return guarded([&] {
    const slide::Model& used = Internals::of(model)->model;
    if (used.text == nullptr) fail_input("the model was trained on features, not on text; use from_csr()");
    Dataset rows(features_of(texts, *used.text, used.config.data.normalize), used.text->feature_count(),
                 used.text->label_count());
    return read_with(used.config.data, std::move(rows), used.text);
  });
}

std::size_t Data::samples() const {
  return impl_->rows.size();
}
std::uint32_t Data::features() const {
  return impl_->rows.feature_count();
}
std::uint32_t Data::labels() const {
  return impl_->rows.label_count();
}
std::uint64_t Data::feature_entries() const {
  return impl_->rows.feature_entries();
}
std::uint64_t Data::label_entries() const {
  return impl_->rows.label_entries();
}
std::size_t Data::copied_bytes() const {
  return impl_->copied_bytes;
}

}  // namespace slide::api
