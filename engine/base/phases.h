// Training time by phase. Plain values; a LapClock is for one thread.
#pragma once

#include <chrono>

namespace slide {

// Wall time in seconds since `start`.
inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Wall time in seconds by phase; the phases of a run sum to its training time.
struct PhaseSeconds {
  double setup = 0.0;     // weights, biases, the linear term and the first hash tables
  double data = 0.0;      // sample order of an epoch, samples of a block
  double hashing = 0.0;   // selection of the active neurons: labels, hash tables, negative samples
  double forward = 0.0;   // activations, logits, loss
  double backward = 0.0;  // gradients of the layers below
  double update = 0.0;    // weight gradients, optimizer
  double rehash = 0.0;    // updates of the hash tables
};

class LapClock {
 public:
  // Seconds since construction or the last lap.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace slide
