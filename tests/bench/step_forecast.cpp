// How far a training step divides: does real steps task by task, and tells what each number of threads would
// take for them.
//
// usage: step_forecast CONFIG [--set KEY=VALUE]... [--skip STEPS] [--steps STEPS]
//
// Work is the sum of all tasks and of what lies between parallel parts; span what no number of threads
// shortens. A forecast gives the next task of a parallel part to the first thread that is free and adds what
// beginning and ending it costs: measured for two threads, and in proportion to their number for more, since
// all count down one number. Below it stands what the clock says for as many threads as there are.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/base/task_log.h"
#include "engine/config/config.h"
#include "engine/run/run_data.h"
#include "engine/training/trainer.h"

namespace {

using namespace slide;
using Clock = std::chrono::steady_clock;

double seconds_from(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr std::size_t kThreads[] = {1, 2, 4, 8, 16, 32, 64, 128};

struct Options {
  std::string config;
  std::vector<std::string> overrides;
  std::uint64_t skip = 50, steps = 200;
};

// A parallel part at one place of the step, summed over steps.
struct Part {
  double before = 0.0, work = 0.0, longest = 0.0, tasks = 0.0;
};

struct Forecast {
  std::uint64_t steps = 0;
  double work = 0.0, span = 0.0, parts = 0.0;  // over all steps; parallel parts of more than one task
  std::map<std::size_t, double> seconds;       // by threads, without what parallel parts cost themselves
  std::map<std::size_t, std::uint64_t> steps_by_parts;
  std::map<std::size_t, std::vector<Part>> places;  // of the steps with so many parts
};

// Adds a step.
void add(const TaskLog& log, Forecast& sum) {
  const double after = log.after();
  ++sum.steps;
  ++sum.steps_by_parts[log.regions().size()];
  std::vector<Part>& places = sum.places[log.regions().size()];
  places.resize(log.regions().size());
  sum.work += after;
  sum.span += after;
  for (const std::size_t threads : kThreads) sum.seconds[threads] += after;
  std::span<const double> seconds = log.seconds();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const TaskLog::Region& region = log.regions()[i];
    const std::span<const double> tasks = seconds.first(region.tasks);
    seconds = seconds.subspan(region.tasks);
    double work = 0.0, longest = 0.0;
    for (const double task : tasks) work += task, longest = std::max(longest, task);
    sum.work += region.before + work;
    sum.span += region.before + longest;
    if (region.tasks > 1) sum.parts += 1;
    for (const std::size_t threads : kThreads)
      sum.seconds[threads] += region.before + greedy_makespan(tasks, threads);
    places[i].before += region.before;
    places[i].work += work;
    places[i].longest += longest;
    places[i].tasks += double(region.tasks);
  }
}

Forecast forecast(const Options& options, const Config& config, const RunData& data) {
  Trainer trainer(config, data.train, nullptr);
  Forecast result;
  TaskLog log;
  TrainObserver observer;
  observer.step = [&](const StepReport& step) {
    if (step.step > options.skip) add(log, result);
    log.clear();
    return step.step < options.skip + options.steps;
  };
  trainer.run(observer);
  return result;
}

// Seconds of a step on so many threads, by the clock.
double measure(const Options& options, Config config, const RunData& data, int threads) {
  config.train.threads = static_cast<std::uint32_t>(threads);
  Trainer trainer(config, data.train, nullptr);
  Clock::time_point start;
  std::uint64_t last = 0;
  double seconds = 0.0;
  TrainObserver observer;
  observer.step = [&](const StepReport& step) {
    if (step.step == options.skip) start = Clock::now();
    seconds = seconds_from(start);
    last = step.step;
    return step.step < options.skip + options.steps;
  };
  trainer.run(observer);
  return last > options.skip ? seconds / double(last - options.skip) : 0.0;
}

// Seconds that beginning and ending a parallel part costs two threads.
double cost_of_two() {
  constexpr int kRepeats = 20000;
  double seconds = 0.0;
  with_team(2, [&] {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kRepeats; ++i) parallel_for(2, 2, [](std::size_t, int) {});
    seconds = seconds_from(start);
  });
  return seconds / kRepeats;
}

void print(const Forecast& sum, double cost) {
  const double steps = double(sum.steps), ms = 1000.0 / steps;
  std::printf(
      "%llu steps, each %.3f ms of work, %.3f ms of span, %.1f parallel parts of %.2f us for two threads\n",
      static_cast<unsigned long long>(sum.steps), sum.work * ms, sum.span * ms, sum.parts / steps,
      cost * 1e6);
  const auto common =
      std::ranges::max_element(sum.steps_by_parts, {}, [](const auto& pair) { return pair.second; });
  std::printf("\nof the %llu steps with %zu parts, ms:\n  part   tasks  before    work  longest\n",
              static_cast<unsigned long long>(common->second), common->first);
  const double each = 1000.0 / double(common->second);
  const std::vector<Part>& places = sum.places.at(common->first);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Part& part = places[i];
    std::printf("  %4zu  %6.1f  %6.3f  %6.3f  %7.3f\n", i + 1, part.tasks / double(common->second),
                part.before * each, part.work * each, part.longest * each);
  }
  std::printf("\nthreads   ms a step  speed-up\n");
  for (const auto& [threads, seconds] : sum.seconds) {
    const double with_cost = seconds + (threads > 1 ? sum.parts * cost * double(threads) / 2 : 0.0);
    std::printf("%7zu  %10.3f  %8.2f\n", threads, with_cost * ms, sum.work / with_cost);
  }
}

void run(const Options& options) {
  Config config = load_config(options.config, options.overrides);
  config.data.test.clear();
  const RunData data = read_run_data(config, 0);
  const Forecast sum = forecast(options, config, data);
  if (sum.steps == 0) throw InputError("no steps; give a smaller --skip");
  print(sum, cost_of_two());
  std::printf("\nby the clock:\n");
  for (const std::size_t threads : kThreads) {
    if (threads > static_cast<std::size_t>(available_threads())) break;
    std::printf("%7zu  %10.3f\n", threads, 1000 * measure(options, config, data, static_cast<int>(threads)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("How far a training step divides");
  app.add_option("config", options.config, "Configuration")->required();
  app.add_option("--set", options.overrides, "A key and its value");
  app.add_option("--skip", options.skip, "Steps before the first that counts")->check(CLI::PositiveNumber);
  app.add_option("--steps", options.steps, "Steps that count");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "step_forecast: %s\n", error.what());
    return 1;
  }
  return 0;
}
