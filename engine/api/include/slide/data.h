// Samples for training or prediction: features, and labels where known.
//
// A Data is an immutable handle: copies share its content; safe from any thread.
#pragma once

#include <slide/export.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace slide::api {

class Config;
class Model;

// View of an array of 32-bit or 64-bit integers in the caller's memory.
class Integers {
 public:
  enum class Type { kInt32, kUint32, kInt64, kUint64 };

  Integers() = default;  // empty
  Integers(const std::int32_t* data, std::size_t size) : data_(data), size_(size), type_(Type::kInt32) {}
  Integers(const std::uint32_t* data, std::size_t size) : data_(data), size_(size), type_(Type::kUint32) {}
  Integers(const std::int64_t* data, std::size_t size) : data_(data), size_(size), type_(Type::kInt64) {}
  Integers(const std::uint64_t* data, std::size_t size) : data_(data), size_(size), type_(Type::kUint64) {}
  template <class T>
  Integers(const std::vector<T>& values) : Integers(values.data(), values.size()) {}

  const void* data() const { return data_; }
  std::size_t size() const { return size_; }
  Type type() const { return type_; }

 private:
  const void* data_ = nullptr;
  std::size_t size_ = 0;
  Type type_ = Type::kInt32;
};

// View of a sparse matrix in compressed rows (CSR, as SciPy's csr_matrix) in the caller's memory. Row i has
// the entries offsets[i] to offsets[i + 1] - 1 of `ids` and `values`.
struct CsrMatrix {
  Integers offsets;               // rows + 1; the first is 0, the last the number of entries
  Integers ids;                   // column numbers, from 0
  const float* values = nullptr;  // one per id; nullptr: all 1. Labels have none
  std::uint64_t columns = 0;      // 0: the largest id + 1
};

class SLIDE_API Data {
 public:
  struct Impl;  // internal

  // Samples from CSR arrays, one per row; `labels` without offsets: no labels. Every id and value is checked
  // once; throws InputError with the first invalid row: an id that is negative or not below `columns`, a
  // value that is not finite, or offsets that do not ascend.
  //
  // Zero copy: offsets of 64 bits, ids of 32 bits, and values are used in place. They must not change and
  // must stay valid while this Data, a copy of it, or a training run uses them, which `keep_alive` can
  // ensure; models hold no data. Copied are offsets of 32 bits, ids of 64 bits, and a matrix with unsorted or
  // repeated ids in some row: its ids are sorted, and values of equal ids summed.
  //
  // Values are stored as given; where a configuration has data.normalize, training and prediction use a
  // scaled copy (4 bytes per entry). Set data.normalize=false to avoid it.
  static Data from_csr(const CsrMatrix& features, const CsrMatrix& labels = {},
                       std::shared_ptr<const void> keep_alive = nullptr);

  // Samples with dense features, values [rows x columns], row by row: the first layer multiplies them as a
  // matrix, kNN prediction compares them, and there is no linear term. Labels and lifetime as above. Throws
  // InputError for a value that is not finite, with its row and column, and where labels have another number
  // of rows.
  static Data from_dense(const float* values, std::uint64_t rows, std::uint64_t columns,
                         const CsrMatrix& labels = {}, std::shared_ptr<const void> keep_alive = {});

  // Returns the same samples with dense features beside the sparse ones, such as the embeddings of an encoder
  // beside words: values [rows x columns], row by row, one row per sample; lifetime as above. The first layer
  // takes both; linear term, kNN prediction and feature crosses take the sparse features alone. With
  // data.normalize both parts of a sample are scaled to unit length, each by itself. Throws InputError for a
  // value that is not finite, another number of rows, and where there are dense features already.
  Data with_dense(const float* values, std::uint64_t rows, std::uint64_t columns,
                  std::shared_ptr<const void> keep_alive = {}) const;

  // Reads a training file in any format of `slide train`, or several files of one data set (a pattern such as
  // `parts/*.txt`, or one path per line), with the [data] and [text] settings of `config`. Labelled text
  // yields a vocabulary, which models trained on this Data contain.
  static Data read(const std::string& path, const Config& config);
  // Reads one or several files to predict or evaluate, with the settings and vocabulary of the model.
  static Data read(const std::string& path, const Model& model);
  // Texts for training, one per sample; learns a vocabulary with the [text] settings of `config`, which
  // models trained on this Data contain. `labels`: one row per text, without values; label i is named
  // label_names[i], at least one character, no control characters. With keep_labels, labels keep their ids;
  // otherwise, as for files, labels of at least text.min_label_count samples are numbered by decreasing
  // frequency.
  static Data learn_texts(const std::vector<std::string_view>& texts, const CsrMatrix& labels,
                          const std::vector<std::string_view>& label_names, const Config& config,
                          bool keep_labels = false);
  // Texts for a model trained on text, one per sample. `labels`: one row per text, with label ids of the
  // model; none without offsets.
  static Data from_texts(const std::vector<std::string_view>& texts, const Model& model,
                         const CsrMatrix& labels = {});

  // Texts to continue `model` with, which was trained on text: words and n-grams that are frequent enough in
  // these texts join its vocabulary in a copy, and new labels join its labels. label_names: the names of the
  // model in its order, then the new ones.
  static Data learn_more_texts(const std::vector<std::string_view>& texts, const CsrMatrix& labels,
                               const std::vector<std::string_view>& label_names, const Model& model);
  // Texts with the vocabulary of `learnt`, from learn_texts(), one per sample: to validate or to test on
  // while a model trains. `labels`: with the ids of `learnt`; others follow.
  static Data from_texts(const std::vector<std::string_view>& texts, const Data& learnt,
                         const CsrMatrix& labels = {});

  // Returns the same samples with weights: factors of each sample's gradients, relative to the mean weight.
  // Samples of weight 0 are dropped (the others are then copied). The reported training loss, label
  // frequencies and kNN prediction ignore weights. Throws InputError unless there is one weight per sample,
  // all finite, none negative, not all 0.
  Data weighted(const float* weights, std::size_t count) const;

  // Returns the same samples with weights of their labels in training, label 0 first, 1 for labels beyond the
  // given weights. Replaces the file of data.label_weights. Throws InputError where there are more than
  // labels, or one is not finite or negative, or all are 0.
  Data label_weighted(const float* weights, std::size_t count) const;

  // Returns the same samples with groups (any text): where a share is held out for validation
  // (data.validation) and in tune(), all samples of a group are held out or none. Throws InputError unless
  // there is one group per sample.
  Data grouped(const std::vector<std::string_view>& groups) const;
  // Returns the same samples with times, numbers or texts that sort by time: the latest samples are then held
  // out. data.time = order uses the order of the samples. Throws InputError unless there is one time per
  // sample, where numbers and other texts are mixed, and where all times are equal.
  Data timed(const std::vector<std::string_view>& times) const;

  std::size_t samples() const;
  std::uint32_t features() const;       // columns, dense ones included
  std::uint32_t dense_columns() const;  // dense ones among features()
  std::uint32_t labels() const;
  std::uint64_t feature_entries() const;
  std::uint64_t label_entries() const;
  // After read() for a model: number of occurrences of unknown features (for text: words), which read()
  // leaves out. Unknown labels get numbers after those of the model.
  std::uint64_t unknown_features() const;
  // Copies the samples in CSR form: offsets [samples() + 1], ids and values of one element per entry.
  void copy_features(std::uint64_t* offsets, std::uint32_t* ids, float* values) const;
  void copy_labels(std::uint64_t* offsets, std::uint32_t* ids) const;
  // Copies the dense columns, row by row: values [samples() x dense_columns()].
  void copy_dense(float* values) const;

  // Whether features and labels have names, from a learnt vocabulary or a model.
  bool is_text() const;
  // Throw InputError where there are no names or no such id.
  std::string label_name(std::uint32_t label) const;
  std::string feature_name(std::uint32_t feature) const;

  // Writes the samples to a file, atomically; `format` is one of xmc, libsvm, fasttext, tsv, npz, or empty:
  // by the file name. Throws InputError for an unknown format, for names that the format cannot represent and
  // for dense features; Error where the file cannot be written.
  void write(const std::string& path, const std::string& format = {}) const;

  // Name of the user of a sample of an interaction log. Throws InputError where samples have no users.
  std::string user_name(std::size_t sample) const;

  // Warnings about content of the file that is probably misread, one line each: "FILE:LINE: what; remedy".
  std::vector<std::string> warnings() const;

  // For from_csr(): bytes of the arrays that were copied; 0 where all are the caller's.
  std::size_t copied_bytes() const;

 private:
  friend struct Internals;
  explicit Data(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

// Items of the users of an interaction log, to predict for users by name. An immutable handle: copies share
// its content; safe from any thread. Its samples fit only the model that it was read for.
class SLIDE_API KnownUsers {
 public:
  struct Impl;  // internal

  // Reads a log as `slide predict` does: the log at `path`, else data.known of the model, else its training
  // file. Throws InputError where the model was not trained on interactions, or the file does not exist.
  static KnownUsers read(const Model& model, const std::string& path = {});

  std::size_t size() const;  // users
  bool has(std::string_view user) const;
  // Name of a user, in the order of the names. Throws InputError where there is none.
  std::string user_name(std::size_t user) const;
  // One sample per name, in this order. Its features are the known items of the user, which predictions leave
  // out. Data::warnings() has the number of users without a known item.
  Data samples(const std::vector<std::string_view>& users) const;
  // The samples of `slide test`: the users of the log at `path`, in the order of their names. Features are
  // the items that this object has of the user; labels are the user's other items in the log at `path`.
  // Throws InputError.
  Data held_out(const std::string& path) const;

 private:
  friend struct Internals;
  explicit KnownUsers(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

// That most of the labels 0 to labels - 1 cannot occur among `entries` in all, as where ids have gaps; empty
// else. Each label has weights, in memory and in the file.
SLIDE_API std::string label_gaps(std::uint64_t labels, std::uint64_t entries);

}  // namespace slide::api
