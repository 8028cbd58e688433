// Counters of the server and their text in the Prometheus format. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "engine/serve/answer_metrics.h"
#include "engine/serve/byte_budget.h"
#include "engine/serve/served_model.h"

namespace slide::serve {

class ServerMetrics {
 public:
  // Endpoints that are counted separately.
  enum class Endpoint { kPredict, kSimilar, kPage, kHealth, kReady, kMetrics, kOther };

  // Counts a request answered with status `code`, `seconds` after its last byte arrived.
  void add_request(Endpoint endpoint, unsigned code, double seconds);
  void add_reload(bool done) { ++reloads_[done ? 1 : 0]; }

  std::uint64_t in_flight = 0;  // predictions accepted and not yet answered
  std::uint64_t connections = 0;
  std::uint64_t rejected = 0;  // requests and connections refused at a limit

  AnswerMetrics answers;  // from any thread

  std::string text(const ServedModel& model, const ByteBudget& waiting) const;

 private:
  static constexpr std::array kBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                         0.05,   0.1,   0.25,   0.5,   1.0,  2.5};
  struct Latency {
    std::array<std::uint64_t, kBounds.size()> within{};  // requests per latency bucket, not cumulative
    std::uint64_t count = 0;
    double sum = 0.0;
  };

  std::map<std::pair<Endpoint, unsigned>, std::uint64_t> requests_;
  std::map<Endpoint, Latency> latency_;
  std::array<std::uint64_t, 2> reloads_{};  // failed, done
  double started_ =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
};

}  // namespace slide::serve
