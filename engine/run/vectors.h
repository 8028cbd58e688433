// What a model has learnt about samples, labels and features, as vectors as wide as its last hidden layer:
// for searching, clustering and pictures elsewhere.
//
// A label's vector is its row of output weights, so that its product with a sample's vector, and the label's
// bias, make the score of the network without a wide path. Functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "engine/base/atomic_file.h"
#include "engine/run/model.h"

namespace slide {

// Numbers of a vector. Throws InputError where the network has no hidden layer and no dense features, so that
// samples have no vectors.
std::size_t vector_width(const Model& model);

// The activations of the last hidden layer, or the dense features where there is none: `vectors` [samples x
// vector_width()]. They do not depend on which samples come together. Throws InputError also for samples with
// more features than the model has.
void sample_vectors(const Model& model, const Dataset& samples, int threads, float* vectors);

// The output weights of a label: `vector` [vector_width()].
void label_vector(const Model& model, std::uint32_t label, std::span<float> vector);

// What a feature, or a word, adds to the sums of the first hidden layer where its value is 1: `vector` [its
// size]. feature_width() throws InputError where that layer is stored by neuron.
std::size_t feature_width(const Model& model);
void feature_vector(const Model& model, std::uint32_t feature, std::span<float> vector);

// The name of a vector in a text of vectors: '_' for the blanks of `name`.
std::string vector_name(std::string_view name);

// Writes vectors of `width` numbers one after the other: into a matrix of float32 where the name ends in
// .npy, else as text, with a name in front of each that has one, in which blanks become '_'. For one thread.
class VectorWriter {
 public:
  // `path`: empty is standard output, by print(text). Throws Error when the file cannot be written, here and
  // below.
  using Print = std::function<void(std::string_view)>;
  VectorWriter(const std::string& path, std::size_t width, Print print);

  // A first line of word2vec's text format, `rows width`; nothing in .npy.
  void head(std::size_t rows);
  void add(std::string_view name, std::span<const float> vector);
  // Gives the file its name.
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
  std::string buffer_;  // to be written to file_
  std::string line_;
};

}  // namespace slide
