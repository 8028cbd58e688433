#include "engine/network/activation.h"

#include "engine/kernels/kernels.h"

namespace slide {

void activation_forward(Activation f, float* z, std::size_t n) {
  const auto& k = kernels::active();
  switch (f) {
    case Activation::kRelu:
      k.relu(z, n);
      break;
    case Activation::kTanh:
      k.tanh(z, n);
      break;
    case Activation::kSigmoid:
      k.sigmoid(z, n);
      break;
    case Activation::kLinear:
      break;
  }
}

void activation_backward(Activation f, const float* y, std::size_t n, float* d) {
  const auto& k = kernels::active();
  switch (f) {
    case Activation::kRelu:
      k.relu_backward(y, n, d);
      break;
    case Activation::kTanh:
      k.tanh_backward(y, n, d);
      break;
    case Activation::kSigmoid:
      k.sigmoid_backward(y, n, d);
      break;
    case Activation::kLinear:
      break;
  }
}

}  // namespace slide
