#include <slide/data.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "datasets/data_warnings.h"
#include "datasets/data_writer.h"
#include "datasets/reader.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/read_report.h"
#include "datasets/rows/row_parser.h"
#include "datasets/rows/sample_weights.h"
#include "datasets/sidecar/sample_keys.h"
#include "datasets/text/labelled_text.h"
#include "engine/api/arguments.h"
#include "engine/api/csr_input.h"
#include "engine/api/internals.h"
#include "engine/base/aligned.h"
#include "engine/base/byte_io.h"
#include "engine/base/foreign_text.h"
#include "engine/base/parallel.h"
#include "engine/model/model_input.h"
#include "engine/run/run_data.h"

namespace slide::api {

namespace {

constexpr std::size_t kRowsAtOnce = 1024;

// Rows with their own scaled values.
struct ScaledStorage {
  AlignedArray<float> values;
  std::shared_ptr<const void> rest;
};

const TextModel& names_of(const Data::Impl& data) {
  if (!data.reading || data.reading->text == nullptr)
    fail_input("features and labels have names only where the data are text");
  return *data.reading->text;
}

Data read_with(const DataConfig& config, Dataset rows, std::shared_ptr<const TextModel> text,
               std::vector<std::string> warnings = {}) {
  Data::Impl impl;
  impl.rows = std::move(rows);
  impl.warnings = std::move(warnings);
  impl.reading = Reading{config, std::move(text)};
  return Internals::make<Data>(std::move(impl));
}

}  // namespace

// Rows of unit length where data.normalize asks for it. Data from files are scaled by their reader already.
Dataset scaled_rows(const Data::Impl& data, const DataConfig& config) {
  if (!config.normalize || data.reading) return data.rows;
  DenseRows dense;
  if (data.rows.dense_count() > 0) dense = data.rows.dense().of_unit_length(available_threads());
  if (data.rows.sparse_count() == 0) return data.rows.with_dense(std::move(dense));
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
  view.dense = std::move(dense);
  return Dataset(storage, view, data.rows.feature_count(), data.rows.label_count())
      .with_keys(data.rows.keys());
}

Dataset rows_to_train(const Data::Impl& data, Dataset rows) {
  const TextModel* const text = data.reading ? data.reading->text.get() : nullptr;
  if (text == nullptr || rows.label_count() <= text->label_count()) return rows;
  return rows.with_labels(0, text->label_count());
}

namespace {

// Sets data.group and data.time to what the samples were read with. Throws InputError where `config` names
// other columns or files: groups and times come with the samples.
void record_keys(const Data::Impl& data, DataConfig& config) {
  const auto check = [](const KeyName& name, const std::string& wanted, const std::string& read) {
    if (wanted.empty() || wanted == read) return;
    fail_input("{} = {} belongs to a file; read that with it, or give the {}s with the samples", name.key,
               wanted, name.thing);
  };
  const DataConfig of_file = data.reading ? data.reading->options : DataConfig();
  const bool names_none = config.time == kFileOrder || config.time == kNoTime;
  check(kGroupKey, config.group, of_file.group);
  if (!names_none) check(kTimeKey, config.time, of_file.time);
  config.group = of_file.group;
  if (!names_none) config.time = of_file.time;
}

}  // namespace

// Sets the keys of `config` to the values with which the data was read: the model must read the same way
// later.
void record_reading(const Data::Impl& data, slide::Config& config) {
  const std::string weights = data.reading ? data.reading->options.sample_weights : "";
  if (!config.data.sample_weights.empty() && config.data.sample_weights != weights)
    fail_input(
        "data.sample_weights = {} belongs to a file; read that with it, or weigh samples by Data::weighted()",
        config.data.sample_weights);
  record_keys(data, config.data);
  if (!data.reading) return;
  const DataConfig& used = data.reading->options;
  config.data.sample_weights = weights;
  config.data.format = used.format;
  config.data.kind = used.kind;
  config.data.one_based = used.one_based;
  config.data.normalize = used.normalize;
  config.data.text = used.text;
  config.data.labels = used.labels;
  config.data.label_separator = used.label_separator;
  config.data.dense = used.dense;
  config.data.weight = used.weight;
  if (data.reading->text != nullptr) config.text = data.reading->text->options();
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

namespace {

DenseMatrix matrix_of(const float* values, std::uint64_t rows, std::uint64_t columns) {
  return {bytes_of(std::span<const float>(values, rows * columns)), DenseType::kFloat32, rows, columns};
}

// Arrays of samples without sparse features.
struct DenseStorage {
  std::vector<std::uint64_t> offsets;  // zeros
  CsrInput labels;
  std::shared_ptr<const void> values;
};

}  // namespace

// Samples of dense columns alone: no sparse entries, all offsets 0.
Data Data::from_dense(const float* values, std::uint64_t rows, std::uint64_t columns, const CsrMatrix& labels,
                      std::shared_ptr<const void> keep_alive) {
  return guarded([&] {
    if (rows == 0 || columns == 0 || rows > UINT32_MAX || columns > UINT32_MAX)
      fail_input("features: {} rows of {} columns; give at least one of each, less than 2^32", rows, columns);
    const auto storage = std::make_shared<DenseStorage>();
    storage->offsets.resize(rows + 1);
    storage->values = keep_alive;
    DatasetView view{storage->offsets, {}, {}, storage->offsets, {}};
    if (labels.offsets.size() > 0) {
      storage->labels = take_csr(labels, {}, keep_alive, "labels");
      view.label_offsets = storage->labels.view.feature_offsets;
      view.label_ids = storage->labels.view.feature_ids;
      if (view.label_offsets.size() != rows + 1)
        fail_input("{} rows of features, but {} of labels; they must be of the same samples", rows,
                   view.label_offsets.size() - 1);
    }
    const Dataset samples(storage, view, 0, storage->labels.feature_count);
    Dataset dense = samples.with_dense(
        {keep_alive, matrix_of(values, rows, columns), false, available_threads(), "features"});
    view.dense = dense.dense();
    return Internals::make<Data>(
        {std::move(dense), std::nullopt, view, storage, storage->labels.copied_bytes});
  });
}

Data Data::with_dense(const float* values, std::uint64_t rows, std::uint64_t columns,
                      std::shared_ptr<const void> keep_alive) const {
  return guarded([&] {
    const Dataset& samples = impl_->rows;
    if (samples.dense_count() > 0)
      fail_input("the data has {} dense columns already; give all of them at once", samples.dense_count());
    if (rows != samples.size() || columns == 0 || columns > UINT32_MAX - samples.feature_count())
      fail_input("dense columns: {} rows of {}; give a row of at least one for each of the {} samples", rows,
                 columns, samples.size());
    const bool normalize = impl_->reading && impl_->reading->options.normalize;
    Impl both = *impl_;
    both.rows = samples.with_dense({std::move(keep_alive), matrix_of(values, rows, columns), normalize,
                                    available_threads(), "dense columns"});
    both.view.dense = both.rows.dense();
    return Internals::make<Data>(std::move(both));
  });
}

Data Data::read(const std::string& path, const Config& config) {
  return guarded([&] {
    slide::Config chosen = Internals::of(config);
    chosen.data.train = expanded(checked_path(path));
    chosen.data.test.clear();
    chosen.data.test_newest = {};
    chosen.data.test_after.clear();
    chosen = settled_by_data(std::move(chosen), suited_to_interactions);
    RunData read = read_run_data(chosen, static_cast<int>(chosen.train.threads));
    return read_with(chosen.data, std::move(read.train), std::move(read.text), read.warnings());
  });
}

Data Data::read(const std::string& path, const Model& model) {
  return guarded([&] {
    checked_path(path);
    const slide::Model& used = Internals::of(model)->model;
    const auto unknown = std::make_shared<UnknownLabels>();
    ReadOptions options = model_read_options(used, 0);
    ReadReport report;
    options.report = &report;
    options.unknown_labels = unknown.get();
    Data::Impl impl;
    impl.rows = read_dataset(path, options);
    impl.warnings = std::move(report.warnings);
    impl.reading = Reading{used.config.data, used.text, unknown, report.unknown_features};
    return Internals::make<Data>(std::move(impl));
  });
}

Data Data::weighted(const float* weights, std::size_t count) const {
  return guarded([&] {
    const auto rows = std::make_shared<const Dataset>(weighted_rows(impl_->rows, {weights, count}));
    Impl weighted = *impl_;
    weighted.view = rows->view();
    weighted.storage = rows;
    weighted.rows = *rows;
    return Internals::make<Data>(std::move(weighted));
  });
}

Data Data::label_weighted(const float* weights, std::size_t count) const {
  return guarded([&] {
    const std::span<const float> all(weights, count);
    if (count > impl_->rows.label_count())
      fail_input("label weights: there are {} for {} labels", count, impl_->rows.label_count());
    const auto bad = std::ranges::find_if(all, [](float w) { return !std::isfinite(w) || w < 0; });
    if (bad != all.end())
      fail_input("label weights: that of label {} is {}; give numbers from 0", bad - all.begin(), *bad);
    if (count == impl_->rows.label_count() && std::ranges::all_of(all, [](float w) { return w == 0; }))
      fail_input("label weights: all are 0; give one above");
    Impl weighted = *impl_;
    weighted.label_weights = std::make_shared<const std::vector<float>>(all.begin(), all.end());
    return Internals::make<Data>(std::move(weighted));
  });
}

namespace {

// Returns the same data with keys set by `change`, one per sample.
template <class Change>
Data with_changed_keys(const Data::Impl& data, std::size_t count, const KeyName& name, const Change& change) {
  if (count != data.rows.samples())
    fail_input("{}s: there are {} for {} samples", name.thing, count, data.rows.samples());
  SampleKeys keys = data.rows.keys() != nullptr ? *data.rows.keys() : SampleKeys();
  change(keys);
  Data::Impl changed = data;
  changed.rows = data.rows.with_keys(std::make_shared<const SampleKeys>(std::move(keys)));
  return Internals::make<Data>(std::move(changed));
}

}  // namespace

Data Data::grouped(const std::vector<std::string_view>& groups) const {
  return guarded([&] {
    return with_changed_keys(*impl_, groups.size(), kGroupKey,
                             [&](SampleKeys& keys) { keys.groups = key_values(groups).ids; });
  });
}

Data Data::timed(const std::vector<std::string_view>& times) const {
  return guarded([&] {
    return with_changed_keys(*impl_, times.size(), kTimeKey, [&](SampleKeys& keys) {
      keys.times = ranks_of_times(key_values(times), "the data");
      keys.in_order = false;
    });
  });
}

std::size_t Data::samples() const {
  return impl_->rows.size();
}
std::uint32_t Data::features() const {
  return impl_->rows.feature_count();
}
std::uint32_t Data::dense_columns() const {
  return impl_->rows.dense_count();
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
void Data::copy_features(std::uint64_t* offsets, std::uint32_t* ids, float* values) const {
  offsets[0] = 0;
  for (std::size_t i = 0; i < samples(); ++i) {
    const SparseRow row = impl_->rows.features(i);
    std::ranges::copy(row.ids, ids + offsets[i]);
    std::ranges::copy(row.values, values + offsets[i]);
    offsets[i + 1] = offsets[i] + row.ids.size();
  }
}

void Data::copy_labels(std::uint64_t* offsets, std::uint32_t* ids) const {
  offsets[0] = 0;
  for (std::size_t i = 0; i < samples(); ++i) {
    const auto labels = impl_->rows.labels(i);
    std::ranges::copy(labels, ids + offsets[i]);
    offsets[i + 1] = offsets[i] + labels.size();
  }
}

void Data::copy_dense(float* values) const {
  const std::size_t columns = dense_columns();
  for (std::size_t i = 0; i < samples(); ++i) impl_->rows.dense().copy_row(i, values + i * columns);
}

std::uint64_t Data::unknown_features() const {
  return impl_->reading ? impl_->reading->unknown_features : 0;
}

bool Data::is_text() const {
  return impl_->reading && impl_->reading->text != nullptr;
}

std::string Data::label_name(std::uint32_t label) const {
  const TextModel& text = names_of(*impl_);
  if (label < text.label_count()) return std::string(text.label_name(label));
  const UnknownLabels* const unknown = impl_->reading->unknown.get();
  const std::uint32_t beyond = label - text.label_count();
  if (unknown != nullptr && beyond < unknown->size()) return (*unknown)[beyond];
  fail_input("there is no label {} with a name; they count from 0", label);
}

std::string Data::feature_name(std::uint32_t feature) const {
  const TextModel& text = names_of(*impl_);
  if (feature >= text.feature_count()) fail_input("there is no feature {}; they count from 0", feature);
  return text.feature_name(feature);
}

void Data::write(const std::string& path, const std::string& format) const {
  guarded([&] {
    checked_path(path);
    const std::optional<FileFormat> to = format.empty() ? format_of_name(path) : format_of_word(format);
    if (!to && !format.empty())
      fail_input("format '{}'; want xmc, libsvm, fasttext, tsv or npz", shown_part(format));
    if (!to) {
      fail_input("{}: the name does not tell the format; say which of xmc, libsvm, fasttext, tsv and npz",
                 path);
    }
    if (dense_columns() > 0)
      fail_input("{}: the data has dense features, and only sparse ones are written; use numpy.save", path);
    if (looks_like_model(path)) fail_input("{}: this is a model; give the data another name", path);
    const TextModel* const text = is_text() ? impl_->reading->text.get() : nullptr;
    write_data(impl_->rows, path, *to, {text, text != nullptr ? impl_->reading->unknown.get() : nullptr},
               path);
  });
}

std::vector<std::string> Data::warnings() const {
  return impl_->warnings;
}

std::size_t Data::copied_bytes() const {
  return impl_->copied_bytes;
}

std::string label_gaps(std::uint64_t labels, std::uint64_t entries) {
  return guarded([&] { return gap_warning("label", labels, entries); });
}

}  // namespace slide::api
