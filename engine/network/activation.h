// Activation functions of hidden layers over arrays of values.
#pragma once

#include <cstddef>

#include "engine/config/config.h"

namespace slide {

// z[i] = f(z[i]), i < n.
void activation_forward(Activation f, float* z, std::size_t n);

// d[i] *= f'(.) expressed by the outputs y[i] = f(.), i < n.
void activation_backward(Activation f, const float* y, std::size_t n, float* d);

}  // namespace slide
