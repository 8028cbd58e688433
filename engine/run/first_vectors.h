// Pretrained vectors as initial weights of the first hidden layer: word vectors in the text formats of
// word2vec and GloVe (also written by `slide vectors --of features`), or feature vectors as a matrix in .npy.
#pragma once

#include <cstddef>
#include <string>

#include "datasets/text/text_model.h"
#include "engine/network/network.h"

namespace slide {

// Initialises the weights of each feature of `network` that has a vector in `path`: the vector is the
// feature's contribution to the pre-activations at value 1, so that with idf factors (data.idf_power) the
// weights are the vector divided by the feature's factor. Returns the number of such features; other weights
// are unchanged.
//
// Text, plain or compressed: each line has a name and one number per neuron of the layer, separated by
// blanks; a first line of two words (word2vec header) is skipped. Names are the feature names of `text`, with
// '_' in place of blanks, or without `text` feature ids; the last line of a name counts; names that contain
// blanks match nothing. .npy: row i is feature i. Throws InputError with the position where the layer is not
// dense, sizes do not match, numbers are not finite, or no name is known. Single-threaded; shards of a
// network get their own rows.
std::size_t start_from_vectors(const std::string& path, const TextModel* text, Network& network);

}  // namespace slide
