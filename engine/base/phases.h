// Where the time of training goes. Plain values; a LapClock is for one thread.
#pragma once

#include <chrono>

namespace slide {

// Seconds of wall time since `start`.
inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Seconds of wall time by phase: those of a run add up to its training time.
struct PhaseSeconds {
  double setup = 0.0;     // weights, biases, the wide path and the first hash tables
  double data = 0.0;      // order of an epoch, samples of a block
  double hashing = 0.0;   // choice of the active neurons: labels, hash tables, random ones
  double forward = 0.0;   // activations, logits, loss
  double backward = 0.0;  // gradients into the layers below
  double update = 0.0;    // gradients of weights, optimizer
  double rehash = 0.0;    // hash tables that follow the weights
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
