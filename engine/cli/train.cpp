// `slide train`: a run in its folder, with its console output.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "datasets/rows/data_parts.h"
#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/cli/bad_rows.h"
#include "engine/cli/commands.h"
#include "engine/cli/options.h"
#include "engine/cli/ranks.h"
#include "engine/cli/source.h"
#include "engine/cli/stop_signal.h"
#include "engine/cli/text.h"
#include "engine/cli/warnings.h"
#include "engine/model/model_input.h"
#include "engine/run/training_run.h"

namespace slide::cli {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct TrainCommand {
  Source source;    // its threads also apply to resumed runs
  std::string out;  // empty: run/<name of the source>
  bool force = false;
  bool pin = false;
  bool quiet = false;
  bool skip_bad = false;
  bool strict = false;
  std::string resume;  // folder of a stopped run to resume, or empty
};

void print_data(const char* name, const std::string& path, const Dataset& data) {
  print("{:6}{}: {} samples, {} features, {} labels\n", name, shown_path(path), grouped(data.samples()),
        grouped(data.feature_count()), grouped(data.label_count()));
}

void print_data(const DataConfig& config, const RunData& data, double seconds) {
  print_data("train", config.train, data.train);
  if (data.test) {
    print_data("test", config.test, *data.test);
  } else {
    print("test  none: data.test is not set, so {}\n", config.validation.wanted()
                                                           ? "the validation samples alone are evaluated"
                                                           : "there is no evaluation");
  }
  if (data.validation) print_data("valid", config.validation.file, *data.validation);
  if (data.text != nullptr && config.kind == DataKind::kInteractions) {
    print("items  {} are features and labels\n", grouped(data.text->label_count()));
  } else if (data.text != nullptr) {
    print("text  {} words and n-grams are features, {} labels\n", grouped(data.text->feature_count()),
          grouped(data.text->label_count()));
  }
  for (const std::string& note : data.notes) print("{}\n", note);
  const auto print_unknown = [&](const std::optional<Dataset>& rows, const std::string& path,
                                 const ReadReport& report) {
    if (!rows) return;
    const Unknown unknown = count_unknown(*rows, report, data.train.label_count());
    const FeatureKind kind = feature_kind(data.text.get());
    const bool warned = !foreign_warning(unknown, path, rows->size(), kind).empty();
    const std::string line = describe_unknown(unknown, path, rows->size(), kind);
    if (!warned && !line.empty()) print("{}\n", line);
  };
  print_unknown(data.test, config.test, data.test_report);
  print_unknown(data.validation, config.validation.file, data.validation_report);
  print("loaded in {:.2f} s\n", seconds);
}

void print_start(const Config& config, const TrainingStart& start, int ranks) {
  const std::string processes = ranks > 1 ? fmt::format("{} processes of ", ranks) : "";
  print("training {} epoch{}, {} samples a step, {}{} threads, {} weights\n", config.train.epochs,
        config.train.epochs == 1 ? "" : "s", start.step_samples, processes, start.threads,
        grouped(start.weights));
  if (start.from_vectors > 0) {
    print("{} features start from the vectors of {}\n", grouped(start.from_vectors), config.train.vectors);
  }
  if (start.margin.share() > 0) {
    print("layer.-1.wide_margin is 1: P@1 {:.3f} by the sums of labels' samples, {:.3f} by similar samples\n",
          start.margin.by_sums, start.margin.by_neighbours);
  }
  if (start.unlabelled > 0) {
    print("{} training samples have no label and are skipped\n", grouped(start.unlabelled));
  }
}

// Traffic of this process with the others.
std::string traffic_text(int ranks, const Cluster::Traffic& traffic) {
  if (ranks == 1) return {};
  return fmt::format("  {} sent  {:.1f} s waited", memory_text(double(traffic.bytes_sent)),
                     traffic.seconds_waited);
}

// The mean number of active neurons by source (labels, tables, samplers), and recall and load of the hash
// tables.
std::string sources_text(const EpochReport& report) {
  if (!report.sources || !report.tables) return {};
  const ActiveSources& sources = *report.sources;
  std::string text = fmt::format(": {:.0f} labels", sources.labels);
  const std::pair<double, const char*> drawn[] = {
      {sources.tables, "tables"}, {sources.frequency, "frequency"}, {sources.uniform, "uniform"}};
  for (const auto& [count, name] : drawn) {
    if (count > 0) text += fmt::format(", {:.0f} {}", count, name);
  }
  const TableHealth& tables = *report.tables;
  if (tables.recall) text += fmt::format("  recall@10 {:.2f}", *tables.recall);
  return text + fmt::format("  {:.1f}% in full buckets", 100 * tables.in_full);
}

void print_report(const EpochReport& report, std::uint32_t epochs) {
  print("epoch {}/{}  step {}  loss {:.4f}  {:.2f} s  {} samples/s  {:.0f} active{}{}\n", report.epoch,
        epochs, report.step, report.loss, report.train_seconds,
        grouped(static_cast<std::uint64_t>(report.samples_per_second)), report.active_mean,
        sources_text(report), traffic_text(report.ranks, report.traffic));
}

constexpr double kSkewed = 0.02;        // of the neurons in one bucket
constexpr std::size_t kFewRows = 1000;  // of fewer neurons a bucket holds as many by chance

// A warning where one bucket of the tables of a layer holds many of its neurons; else empty.
std::string skew_text(const Config& config, const TablesReport& report) {
  const HashConfig& hash = config.layers[report.layer].hash;
  const lsh::Occupancy& occupancy = report.occupancy;
  const std::size_t neurons = occupancy.filed / std::max(hash.tables, 1U);
  if (neurons < kFewRows || double(occupancy.largest_bucket) <= kSkewed * double(neurons)) return {};
  const std::string section = fmt::format("layer.{}.hash", report.layer);
  const bool is_default = hash.k == 0 && hash.range_pow == 0 && hash.bucket_capacity == 0 &&
                          hash.asymmetric && hash.family == HashFamily::kSimhash;
  const std::string rehash =
      hash.rehash_share < 1 ? fmt::format("{}.rehash_share above {}, or ", section, hash.rehash_share) : "";
  return fmt::format(
      "{} of {} neurons share one bucket of the hash tables of layer {}: {}",
      grouped(occupancy.largest_bucket), grouped(neurons), report.layer,
      is_default
          ? fmt::format("set {}{}.rebuild_steps", rehash, section)
          : fmt::format(
                "leave out {0}.k, {0}.range_pow and {0}.bucket_capacity, and {0}.family and {0}.asymmetric",
                section));
}

void print_report(const EvalReport& report, const std::vector<std::uint32_t>& ks) {
  std::string line = fmt::format("  {} {}", report.validation ? "validation" : "eval", report.epoch);
  const nlohmann::ordered_json measures = eval_measures(report.metrics, ks);
  for (const auto& [name, value] : measures.items())
    line += fmt::format("  {} {:.4f}", name, value.get<double>());
  print("{}{}  ({:.2f} s)\n", line, report.best ? "  best" : "", report.eval_seconds);
}

// Status line of a run, at most five times per second.
class Status {
 public:
  Status(const Config& config, const Cluster& cluster)
      : cluster_(cluster),
        epochs_(config.train.epochs),
        k_(config.eval.k.front()),
        wanted_(has_status_line()) {}
  ~Status() { show_status(""); }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;

  // Training begins after step `from`.
  void begin(std::uint64_t from) {
    from_ = from;
    began_ = Clock::now();
  }
  void show(const StepReport& report) {
    if (!wanted_) return;
    const auto now = Clock::now();
    if (now - shown_ < std::chrono::milliseconds(200)) return;
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - began_).count();
    const double left = seconds / double(report.step - from_) * double(report.total_steps - report.step);
    std::string line =
        fmt::format("epoch {}/{}  {} samples/s  loss {:.4f}  {:.0f} active  {} left", report.epoch, epochs_,
                    grouped(static_cast<std::uint64_t>(double(report.samples) / report.seconds)), report.loss,
                    report.active_mean, duration_text(left));
    if (precision_) line += fmt::format("  P@{} {:.4f}", k_, *precision_);
    if (cluster_.size() > 1)
      line += fmt::format("  {} ranks{}", cluster_.size(), traffic_text(cluster_.size(), cluster_.traffic()));
    show_status(line);
  }
  // The evaluation after an epoch begins; its progress comes from any thread.
  void evaluate(std::uint32_t epoch) {
    evaluating_ = fmt::format("epoch {}/{}  evaluating", epoch, epochs_);
    show_status(evaluating_);
  }
  void evaluating(std::size_t done, std::size_t all) { evaluation_.show(evaluating_, done, all); }
  void set_precision(const Metrics& metrics) { precision_ = metrics.precision(k_); }

 private:
  static std::string duration_text(double seconds) {
    const auto s = static_cast<std::uint64_t>(seconds);
    return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                    : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  }

  const Cluster& cluster_;
  std::uint32_t epochs_;
  std::uint32_t k_;  // of the precision shown
  std::uint64_t from_ = 0;
  bool wanted_;
  Clock::time_point began_, shown_;
  std::string evaluating_;
  EvaluationStatus evaluation_;
  std::optional<double> precision_;
};

// Message for a signal before the first step, when the folder is unchanged. With several processes the
// launcher reports it; it also ends all by a signal when one has failed.
std::string last_words(const TrainCommand& command, const Cluster& cluster) {
  if (cluster.size() > 1) return {};
  if (command.resume.empty()) return "before the first step; there is nothing to go on with: start again";
  return one_line("before it went on; go on with: slide train --resume " + command.resume);
}

// Prints the events of a run; stops it at a signal, which is only recorded while there is something to save.
RunObserver printing(const Config& config, int ranks, Status& status, std::optional<StopSignal>& signals) {
  RunObserver observer;
  observer.data = [&](const RunData& data, double seconds) { print_data(config.data, data, seconds); };
  observer.validation = [](std::size_t held_out, std::size_t left, const char* by) {
    print("{} samples{} are held out for validation, {} are left to train on\n", grouped(held_out),
          chosen_text(by), grouped(left));
  };
  observer.start = [&, ranks](const TrainingStart& start) {
    print_start(config, start, ranks);
    // Before the folder shows the run: from then on it may be stopped by a signal.
    signals->note_only();
    status.begin(0);
  };
  observer.kept = [](const std::string& folder) {
    print("the finished run that was here is kept in {}\n", folder);
  };
  observer.resumed = [&](std::uint64_t step, std::uint64_t total_steps) {
    print("going on after step {} of {}\n", step, total_steps);
    status.begin(step);
  };
  observer.step = [&](const StepReport& report) {
    status.show(report);
    return StopSignal::came() == 0;
  };
  observer.epoch = [&](const EpochReport& report) {
    print_report(report, config.train.epochs);
    const std::uint32_t every = config.train.eval_every;
    const bool due = report.epoch == config.train.epochs || (every > 0 && report.epoch % every == 0);
    if (due && (config.data.validation.wanted() || !config.data.test.empty())) status.evaluate(report.epoch);
  };
  observer.tables = [&, warned = false](const TablesReport& report) mutable {
    const std::string text = warned ? std::string() : skew_text(config, report);
    if (text.empty()) return;
    warned = true;
    print_notes({text});
  };
  if (has_status_line())
    observer.evaluating = [&](std::size_t done, std::size_t all) { status.evaluating(done, all); };
  observer.eval = [&](const EvalReport& report) {
    print_report(report, config.eval.k);
    if (report.validation || !config.data.validation.wanted()) status.set_precision(report.metrics);
  };
  observer.trained = [&] {
    show_status("");
    signals.reset();
  };
  return observer;
}

void print_end(const TrainingRun& run, const RunResult& result) {
  const RunFolder& folder = run.folder();
  if (result.steps < result.total_steps) {
    print("stopped early: {} validations in a row without improvement\n", run.config().train.patience);
  }
  if (run.config().data.validation.wanted())
    print("the best model by validation is in {}, which {} stands for\n", folder.best_model(), folder.name());
  print("wrote config.toml, environment.json, metrics.jsonl and model.slide ({}) to {}\n",
        memory_text(static_cast<double>(fs::file_size(folder.model()))), folder.name());
}

// The signal that stopped the run, received by any process.
int signal_to_any(Cluster& cluster) {
  const int own = StopSignal::came();
  std::vector<int> all(static_cast<std::size_t>(cluster.size()));
  cluster.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
  const auto came = std::ranges::find_if(all, [](int signal) { return signal != 0; });
  return came != all.end() ? *came : 0;
}

// Trains and prints progress; throws Ended where a signal stopped the run.
void train(TrainingRun& run, const TrainCommand& command, Cluster& cluster,
           std::optional<StopSignal>& signals) {
  Status status(run.config(), cluster);
  BadRows bad;
  Warnings warnings(command.strict);
  RunObserver observer = printing(run.config(), cluster.size(), status, signals);
  const auto print_data_of = observer.data;
  observer.data = [&, known = run.notes().size()](const RunData& data, double seconds) {
    print_data_of(data, seconds);
    const std::vector<std::string>& notes = run.notes();
    print_notes({notes.begin() + static_cast<std::ptrdiff_t>(known), notes.end()});  // of a model to continue
    bad.add(data.train_report);
    bad.add(data.test_report);
    bad.add(data.validation_report);
  };
  observer.warnings = [&](const std::vector<std::string>& all) { warnings.add(all); };
  if (command.skip_bad) run.skip_bad_rows();
  const RunResult result = run.train(observer);
  if (!result.stopped) {
    if (cluster.rank() == 0) print_end(run, result);
    return bad.end();
  }
  show_status("");
  const int signal = signal_to_any(cluster);
  print_notes({fmt::format("stopped by {} after step {} of {}; go on with: slide train --resume {}",
                           StopSignal::name(signal), result.steps, result.total_steps, run.folder().name())});
  throw Ended{128 + signal};
}

void begin(TrainCommand command, Cluster& cluster, std::optional<StopSignal>& signals) {
  const Descriptor held = hold_stream(command.source.init);
  Config config = resolve(command.source).config;
  const fs::path folder =
      command.out.empty() ? "run" / fs::path(default_name(command.source, config)) : fs::path(command.out);
  TrainingRun run(std::move(config), folder, &cluster);
  run.require_free_folder(command.force);
  print_notes(run.notes());
  const auto pinning = pinned(command.pin, run.threads(), &cluster);
  train(run, command, cluster, signals);
}

void go_on(const TrainCommand& command, Cluster& cluster, std::optional<StopSignal>& signals) {
  TrainingRun run = TrainingRun::resume(command.resume, command.source.threads, &cluster);
  print_notes(run.notes());
  if (run.finished()) return print("the run in {} is complete\n", run.folder().name());
  if (!run.has_checkpoint()) {
    print("{} has no checkpoint yet: from the beginning\n", run.folder().name());
  }
  const auto pinning = pinned(command.pin, run.threads(), &cluster);
  train(run, command, cluster, signals);
}

void run_train(const TrainCommand& command) {
  run_together(command.resume.empty() ? "train" : "train --resume", [&](Cluster& cluster) {
    if (command.quiet) be_quiet();
    tolerate_closed_output();
    std::optional<StopSignal> signals(last_words(command, cluster));
    command.resume.empty() ? begin(command, cluster, signals) : go_on(command, cluster, signals);
  });
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("train", "Train a network on data, by the defaults or a configuration");
  sub->footer(
      "DATA that ends in .toml or begins like TOML is a configuration, and so is DATA beside\n"
      "--set data.train=FILE. A pattern in quotes, as 'parts/*.txt', names several files that are one\n"
      "data set. Writes config.toml (resolved), environment.json, metrics.jsonl and\n"
      "model.slide into DIR, the folder of the run. Ctrl-C, SIGTERM and SIGHUP save a checkpoint\n"
      "there first, from the first step on; a second Ctrl-C or SIGTERM ends at once.");
  const auto command = std::make_shared<TrainCommand>();
  Source& source = command->source;
  CLI::Option* data = add_source(*sub, source, "DATA", "Training data, or a configuration (TOML)");
  add_test_data(*sub, source.test);
  CLI::Option* resume = sub->add_option("--resume", command->resume,
                                        "Go on with the stopped run in this folder, as if never stopped");
  resume->type_name("DIR");
  add_init(*sub, source);
  add_vectors_start(*sub, source);
  add_train_epochs(*sub, source.epochs);
  add_train_threads(*sub, source.threads);
  add_pin(*sub, command->pin);
  add_train_seed(*sub, source.seed);
  sub->add_option("--out", command->out, "Folder for the results; default: run/<name of DATA>")
      ->type_name("DIR");
  sub->add_flag("--force", command->force,
                "Train where a run or a model is: a finished run is kept in DIR/previous, all else replaced");
  for (const char* name : {"--config", "--test", "--set", "--init", "--forget", "--vectors", "--epochs",
                           "--seed", "--out", "--force"})
    resume->excludes(sub->get_option(name));
  resume->excludes(data);
  add_skip_bad(*sub, command->skip_bad);
  add_strict(*sub, command->strict);
  sub->add_flag("--quiet", command->quiet, "Print nothing but failures");
  sub->callback([command, &action] {
    if (command->resume.empty()) require_source(command->source, "DATA, CONFIG or --resume");
    action = [command] { run_train(*command); };
  });
}

}  // namespace slide::cli
