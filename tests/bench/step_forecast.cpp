// Forecast of the parallel speed-up of a training step: runs real steps task by task, cut as for each number
// of threads, and computes their time on these threads.
//
// usage: step_forecast CONFIG [--set KEY=VALUE]... [--skip STEPS] [--steps STEPS] [--parts THREADS]
//
// Work is the time of all tasks and of the serial code between parallel regions; span is the time that no
// number of threads shortens. A forecast assigns the next task of a region to the first free thread and adds
// the cost of starting and ending the region: measured for two threads, and multiplied by log2 of the number
// of threads, since the end is counted in a tree (engine/base/parallel.h). Speed-up is relative to one
// thread. A second table has measured times.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
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

constexpr int kThreads[] = {1, 2, 4, 8, 16, 32, 64, 128};

struct Options {
  std::string config;
  std::vector<std::string> overrides;
  std::uint64_t skip = 50, steps = 100;
  int parts = 16;  // threads of the table of parts
};

// A parallel region at one position of the step, summed over steps.
struct Part {
  double before = 0.0, work = 0.0, longest = 0.0, taken = 0.0, tasks = 0.0;
};

struct Forecast {
  std::uint64_t steps = 0;
  // Over all steps; `seconds` excludes the cost of parallel regions of more than one task.
  double work = 0.0, span = 0.0, seconds = 0.0, parts = 0.0;
  std::map<std::size_t, std::uint64_t> steps_by_parts;
  std::map<std::size_t, std::vector<Part>> places;  // of the steps with this number of regions
};

// Adds a step.
void add(const TaskLog& log, int threads, Forecast& sum) {
  const double after = log.after();
  ++sum.steps;
  ++sum.steps_by_parts[log.regions().size()];
  std::vector<Part>& places = sum.places[log.regions().size()];
  places.resize(log.regions().size());
  sum.work += after;
  sum.span += after;
  sum.seconds += after;
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
    const double taken = greedy_makespan(tasks, static_cast<std::size_t>(threads));
    sum.seconds += region.before + taken;
    places[i].before += region.before;
    places[i].work += work;
    places[i].longest += longest;
    places[i].taken += taken;
    places[i].tasks += double(region.tasks);
  }
}

Forecast forecast(const Options& options, Config config, const RunData& data, int threads) {
  config.train.threads = static_cast<std::uint32_t>(threads);
  Trainer trainer(fresh_job(config, data.train));
  Forecast result;
  TaskLog log;
  TrainObserver observer;
  observer.step = [&](const StepReport& step) {
    if (step.step > options.skip) add(log, threads, result);
    log.clear();
    return step.step < options.skip + options.steps;
  };
  trainer.run(observer);
  return result;
}

// Measured seconds per step on `threads` threads.
double measure(const Options& options, Config config, const RunData& data, int threads) {
  config.train.threads = static_cast<std::uint32_t>(threads);
  Trainer trainer(fresh_job(config, data.train));
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

// Seconds to start and end a parallel region on two threads.
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

void print_parts(const Forecast& sum, int threads) {
  const auto common =
      std::ranges::max_element(sum.steps_by_parts, {}, [](const auto& pair) { return pair.second; });
  std::printf("\nof the %llu steps with %zu parts, cut for %d threads, ms:\n",
              static_cast<unsigned long long>(common->second), common->first, threads);
  std::printf("  part   tasks  before    work  longest   taken\n");
  const double each = 1000.0 / double(common->second);
  const std::vector<Part>& places = sum.places.at(common->first);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Part& part = places[i];
    std::printf("  %4zu  %6.1f  %6.3f  %6.3f  %7.3f  %6.3f\n", i + 1, part.tasks / double(common->second),
                part.before * each, part.work * each, part.longest * each, part.taken * each);
  }
}

// Time of a step on `threads` threads, in ms.
double with_cost(const Forecast& sum, int threads, double cost) {
  return (sum.seconds + sum.parts * cost * std::log2(threads)) * 1000.0 / double(sum.steps);
}

void run(const Options& options) {
  Config config = load_config(options.config, options.overrides);
  config.data.test.clear();
  const RunData data = read_run_data(config, 0);
  const double cost = cost_of_two();
  std::printf("a parallel part costs two threads %.2f us\n\n", cost * 1e6);
  std::printf("threads   work    span   parts   ms a step  speed-up\n");
  double one = 0.0;
  for (const int threads : kThreads) {
    const Forecast sum = forecast(options, config, data, threads);
    if (sum.steps == 0) throw InputError("no steps; give a smaller --skip");
    const double ms = 1000.0 / double(sum.steps), step = with_cost(sum, threads, cost);
    if (threads == 1) one = step;
    std::printf("%7d  %6.3f  %6.3f  %6.1f  %10.3f  %8.2f\n", threads, sum.work * ms, sum.span * ms,
                sum.parts / double(sum.steps), step, one / step);
    if (threads == options.parts) print_parts(sum, threads), std::printf("\n");
  }
  std::printf("\nby the clock:\n");
  for (const int threads : kThreads) {
    if (threads > available_threads()) break;
    std::printf("%7d  %39.3f\n", threads, 1000 * measure(options, config, data, threads));
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
  app.add_option("--parts", options.parts, "Threads whose parts are listed");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "step_forecast: %s\n", error.what());
    return 1;
  }
  return 0;
}
