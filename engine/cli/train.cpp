#include <chrono>
#include <filesystem>
#include <system_error>

#include "engine/atomic_file.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/checkpoint.h"
#include "engine/cli/commands.h"
#include "engine/cli/data.h"
#include "engine/cli/text.h"
#include "engine/run_log.h"
#include "engine/trainer.h"

namespace slide::cli {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

fs::path make_folder(const TrainCommand& command) {
  const fs::path folder =
      command.out.empty() ? "run" / fs::path(command.config).stem() : fs::path(command.out);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    fail_run("{}: the folder cannot be created ({}); give another --out", folder.string(), error.message());
  return folder;
}

void print_data(const char* name, const std::string& path, const Dataset& data) {
  print("{:6}{}: {} samples, {} features, {} labels\n", name, path, grouped(data.size()),
        grouped(data.feature_count()), grouped(data.label_count()));
}

RunData load(const Config& config) {
  const auto start = Clock::now();
  RunData data = read_run_data(config, static_cast<int>(config.train.threads));
  print_data("train", config.data.train, data.train);
  if (data.test) {
    print_data("test", config.data.test, *data.test);
  } else {
    print("test  none: data.test is not set, so there is no evaluation\n");
  }
  if (data.text != nullptr) {
    print("text  {} words and n-grams are features, {} labels\n", grouped(data.text->feature_count()),
          grouped(data.text->label_count()));
  }
  for (const std::string& note : data.notes) print("{}\n", note);
  print("loaded in {:.2f} s\n", std::chrono::duration<double>(Clock::now() - start).count());
  return data;
}

void print_start(const Config& config, const Trainer& trainer) {
  std::size_t weights = 0;
  const Network& network = trainer.network();
  if (network.input()) weights += network.input()->weights().rows * network.input()->weights().columns;
  for (const Layer& layer : network.layers()) weights += layer.size() * layer.inputs();
  print("training {} epochs, {} samples a step, {} threads, {} weights\n", config.train.epochs,
        trainer.batch_samples(), resolve_threads(static_cast<int>(config.train.threads)), grouped(weights));
  if (trainer.unlabelled() > 0) {
    print("{} training samples have no label and are skipped\n", grouped(trainer.unlabelled()));
  }
}

void print_report(const EpochReport& report, std::uint32_t epochs) {
  print("epoch {}/{}  step {}  loss {:.4f}  {:.2f} s  {} samples/s  {:.0f} active\n", report.epoch, epochs,
        report.step, report.loss, report.train_seconds,
        grouped(static_cast<std::uint64_t>(report.samples_per_second)), report.active_mean);
}

void print_report(const EvalReport& report, const std::vector<std::uint32_t>& ks) {
  std::string line = fmt::format("  eval {}", report.epoch);
  const nlohmann::ordered_json measures = eval_measures(report.metrics, ks);
  for (const auto& [name, value] : measures.items())
    line += fmt::format("  {} {:.4f}", name, value.get<double>());
  print("{}  ({:.2f} s)\n", line, report.eval_seconds);
}

void follow(Trainer& trainer, const Config& config, RunLog& log) {
  TrainObserver observer;
  observer.epoch = [&](const EpochReport& report) {
    log.write(report);
    print_report(report, config.train.epochs);
  };
  observer.eval = [&](const EvalReport& report) {
    log.write(report);
    print_report(report, config.eval.k);
  };
  trainer.run(observer);
}

}  // namespace

void run_train(const TrainCommand& command) {
  std::vector<std::string> overrides = command.set;
  if (command.threads) overrides.push_back(fmt::format("train.threads={}", *command.threads));
  if (command.seed) overrides.push_back(fmt::format("train.seed={}", *command.seed));
  const Config config = resolve_config(command.config, overrides);
  const RunData data = load(config);
  Trainer trainer(config, data.train, data.test ? &*data.test : nullptr);
  print_start(config, trainer);
  const fs::path folder = make_folder(command);
  const std::string model = (folder / "model.slide").string();
  write_file((folder / "config.toml").string(), to_toml(config));
  RunLog log((folder / "metrics.jsonl").string(), config.eval.k);
  follow(trainer, config, log);
  save_model(model, config, trainer.shape(), trainer.network(), trainer.steps(), data.text.get());
  print("wrote config.toml, metrics.jsonl and model.slide ({}) to {}\n",
        memory_text(static_cast<double>(fs::file_size(model))), folder.string());
}

}  // namespace slide::cli
