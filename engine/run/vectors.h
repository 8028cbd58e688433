// Embeddings of samples, labels and features: vectors as wide as the last hidden layer, for search,
// clustering and visualisation.
//
// A label's vector is its row of output weights: its dot product with a sample's vector, plus the label's
// bias, is the network's score without the linear term. Functions are safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/atomic_file.h"
#include "engine/model/model.h"

namespace slide {

// Dimension of the vectors. Throws InputError where the network has neither a hidden layer nor dense
// features.
std::size_t vector_width(const Model& model);

// Activations of the last hidden layer, or the dense features where there is none: `vectors` [samples x
// vector_width()], all finite. A vector does not depend on the other samples. Throws InputError also for
// samples with more features than the model, and where weights are so large that an activation is beyond
// floats.
void sample_vectors(const Model& model, const Dataset& samples, int threads, float* vectors);

// Output weights of a label: `vector` [vector_width()].
void label_vector(const Model& model, std::uint32_t label, std::span<float> vector);

// Contribution of a feature, or word, to the pre-activations of the first hidden layer at value 1: `vector`
// [feature_width()]. feature_width() throws InputError where that layer is stored by neuron.
std::size_t feature_width(const Model& model);
void feature_vector(const Model& model, std::uint32_t feature, std::span<float> vector);

// Name of a vector in text formats: `name` with '_' in place of blanks.
std::string vector_name(std::string_view name);

// Writes vectors of `width` numbers: to a float32 matrix where the path ends in .npy, else as text, each
// after its name (vector_name()), if any. One thread.
class VectorWriter {
 public:
  // `path`: empty means standard output, through print(text). Throws Error where the file cannot be written,
  // as do all functions below.
  using Print = std::function<void(std::string_view)>;
  VectorWriter(const std::string& path, std::size_t width, Print print);

  // Writes the first line of word2vec's text format, `rows width`; nothing for .npy.
  void head(std::size_t rows);
  void add(std::string_view name, std::span<const float> vector);
  // Completes the file under its name.
  void finish();

 private:
  void put(std::string_view bytes);
  void flush();

  std::string path_;
  bool npy_;
  std::size_t width_;
  std::size_t rows_ = 0;
  Print print_;
  std::unique_ptr<AtomicFile> file_;
  std::string buffer_;  // pending output for file_
  std::string line_;
};

}  // namespace slide
