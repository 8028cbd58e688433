// Samples to train on or to predict: sparse features, and labels where they are known.
//
// A Data is an immutable handle: copies share what it holds, and any number of threads may use them.
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

// An array of whole numbers in the caller's memory, of 32 or 64 bits, which is only looked at.
class Integers {
 public:
  enum class Type { kInt32, kUint32, kInt64, kUint64 };

  Integers() = default;  // none
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

// A sparse matrix in compressed rows, as SciPy's csr_matrix holds it, in the caller's memory. The entries of
// row i are those at places offsets[i] to offsets[i + 1] - 1 of `ids` and `values`.
struct CsrMatrix {
  Integers offsets;               // rows + 1, the first 0, the last the number of entries
  Integers ids;                   // columns, from 0
  const float* values = nullptr;  // as many as ids; nullptr: all are 1. Labels have none
  std::uint64_t columns = 0;      // 0: the largest id and one
};

class SLIDE_API Data {
 public:
  struct Impl;  // of the library

  // Samples from arrays, a row each; `labels` without offsets: the samples have no labels. Every id and value
  // is looked at once, and InputError names the first row at fault: an id that is negative or not below
  // `columns`, a value that is not finite, offsets that do not ascend.
  //
  // Offsets of 64 bits, ids of 32 bits, and values are used where they are, without a copy: they must neither
  // change nor go away while this Data, a copy of it, or a training run uses them, or for as long as
  // `keep_alive` is held. Models hold no data. What is copied: offsets of 32 bits, ids of 64, and all rows of
  // a matrix in which some row's ids do not ascend or repeat. These are sorted, and values of one id summed.
  //
  // Values are as they are; where a configuration has data.normalize, training and prediction work on a
  // scaled copy of them (4 bytes an entry). Set data.normalize=false to have none.
  static Data from_csr(const CsrMatrix& features, const CsrMatrix& labels = {},
                       std::shared_ptr<const void> keep_alive = nullptr);

  // Samples with a number in each of `columns` columns, values [rows x columns] row by row: a first layer
  // multiplies them as a matrix, neighbours are compared by them, and there is no wide path. Labels as above.
  // Values are used where they are, as above. Throws InputError for a value that is not finite, with its row
  // and column, and where there is another number of rows of labels.
  static Data from_dense(const float* values, std::uint64_t rows, std::uint64_t columns,
                         const CsrMatrix& labels = {}, std::shared_ptr<const void> keep_alive = {});

  // A file to train on, in any format that `slide train` reads, or several that are one data set, named by a
  // pattern (`parts/*.txt`) or one a line, by the [data] and [text] settings of
  // `config`. From labelled text a vocabulary is learnt, which models trained on this Data carry.
  static Data read(const std::string& path, const Config& config);
  // A file, or several, to predict or to measure, as the model was trained to see it.
  static Data read(const std::string& path, const Model& model);
  // Texts to train on, a sample each, from which a vocabulary is learnt by the [text] settings of `config`,
  // which models trained on this Data carry. `labels`: a row a text, without values; the name of label i is
  // label_names[i], of at least one character and none below blank. With keep_labels labels are what they are
  // there, else as of a file: by falling frequency, those of text.min_label_count samples or more.
  static Data learn_texts(const std::vector<std::string_view>& texts, const CsrMatrix& labels,
                          const std::vector<std::string_view>& label_names, const Config& config,
                          bool keep_labels = false);
  // Texts for a model that was trained on text; a sample each. `labels`: a row a text, of the model's labels,
  // or others, with numbers behind these, which measures count as missed; without offsets there are none.
  static Data from_texts(const std::vector<std::string_view>& texts, const Model& model,
                         const CsrMatrix& labels = {});

  // The same samples with what the gradients of each are multiplied with, over the mean of all: a weight of
  // 2 in a set of ones is a sample that counts nearly twice. Samples of weight 0 are left out, those of
  // others copied then. The loss that training reports, label frequencies and neighbours take no notice.
  // Throws InputError unless there are as many weights as samples, finite, not negative and not all 0.
  Data weighted(const float* weights, std::size_t count) const;

  // The same samples with the group of each, any text: where a configuration holds a share of them out for
  // validation (data.validation), and where tune() does, samples of one group are held out all or not at all.
  // Throws InputError unless there is one for each sample.
  Data grouped(const std::vector<std::string_view>& groups) const;
  // The same samples with the time of each, numbers or texts that sort by time: the latest are held out then.
  // data.time = order takes the order of the samples. Throws InputError unless there is one for each sample,
  // where numbers and other texts are mixed, and where all are the same.
  Data timed(const std::vector<std::string_view>& times) const;

  std::size_t samples() const;
  std::uint32_t features() const;       // columns
  std::uint32_t dense_columns() const;  // of these
  std::uint32_t labels() const;
  std::uint64_t feature_entries() const;
  std::uint64_t label_entries() const;
  // Of read() for a model: features, of text words and n-grams, that the model does not know and that were
  // left out, as often as they occur. Labels that it does not know have numbers behind its own.
  std::uint64_t unknown_features() const;
  // Copies of the samples, as CsrMatrix has them: offsets [samples() + 1], and as many ids and values as
  // there are entries.
  void copy_features(std::uint64_t* offsets, std::uint32_t* ids, float* values) const;
  void copy_labels(std::uint64_t* offsets, std::uint32_t* ids) const;

  // Whether features and labels have names: those of a vocabulary, learnt or of a model.
  bool is_text() const;
  // Throw InputError without names or such an id.
  std::string label_name(std::uint32_t label) const;
  std::string feature_name(std::uint32_t feature) const;

  // Writes the samples to a file that gets its name when it is whole; `format` is one of xmc, libsvm,
  // fasttext, tsv, npz, or empty: as the name ends. Throws InputError for the format and for names that it
  // cannot hold and for dense features, Error when the file cannot be written.
  void write(const std::string& path, const std::string& format = {}) const;

  // Of a file: what is probably not meant as it was read, a line each, "FILE:LINE: what; what to do".
  std::vector<std::string> warnings() const;

  // Of from_csr(): bytes of the arrays that had to be copied, 0 when all are the caller's.
  std::size_t copied_bytes() const;

 private:
  friend struct Internals;
  explicit Data(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace slide::api
