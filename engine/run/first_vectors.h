// Vectors made elsewhere, as first weights of the first hidden layer in place of random ones: of words in the
// text forms of word2vec and GloVe, as `slide vectors --of features` writes them too, or of numbered features
// as a matrix in .npy.
#pragma once

#include <cstddef>
#include <string>

#include "datasets/text_model.h"
#include "engine/network/network.h"

namespace slide {

// Starts each feature of `network` that `path` has a vector for from it: what the feature adds to the sums of
// the first layer where its value is 1, so with factors of rarity (data.idf_power) the weights are the vector
// divided by its factor. Returns how many there are; the others keep their weights.
//
// In text, plain or packed, a line is a name and as many numbers as the layer has neurons, separated by
// blanks; a first line of two words is word2vec's head and is skipped. Names are those of `text`, with '_'
// for blanks, of which the last line counts; or without it the numbers of features. A name that has blanks
// itself is none of them. In .npy, row i is feature i. Throws InputError that names the place where the layer
// is not dense, sizes do not fit, numbers are not finite, or no name is known. For one thread; parts of a
// shared network get their own rows.
std::size_t start_from_vectors(const std::string& path, const TextModel* text, Network& network);

}  // namespace slide
