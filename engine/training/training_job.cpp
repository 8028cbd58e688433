#include "engine/training/training_job.h"

#include "engine/base/parallel.h"

namespace slide {

TrainingJob fresh_job(const Config& config, const Dataset& train, const Dataset* test) {
  const int threads = resolve_threads(static_cast<int>(config.train.threads));
  return {config, TrainingRows(config, train, threads), FreshStart(), threads, {test, nullptr}};
}

TrainingJob resumed_job(const Config& config, const Dataset& train, std::size_t step_samples) {
  TrainingJob job = fresh_job(config, train);
  job.start = ResumedStart{step_samples};
  return job;
}

}  // namespace slide
