// `slide generate`: a synthetic data set.
#include "datasets/generator.h"

#include <array>
#include <memory>

#include "engine/cli/commands.h"
#include "engine/cli/options.h"
#include "engine/cli/text.h"
#include "engine/model/output_files.h"

namespace slide::cli {

namespace {

constexpr std::uint64_t kMaxColumns = 65536;

struct GenerateCommand {
  GeneratorOptions options;
  std::string out;
};

void run_generate(const GenerateCommand& command) {
  tolerate_closed_output();
  for (const char* name : {"train.txt", "test.txt", "X.train.npy", "Y.train.txt", "X.test.npy", "Y.test.txt"})
    check_outputs(std::array{OutputFile{"--out", command.out + '/' + name, true}}, {});
  generate_dataset(command.options, command.out);
  const GeneratorOptions& options = command.options;
  const bool dense = options.dense > 0;
  print("wrote {}/{} ({} samples) and {} ({} samples): {} {}, {} labels\n", command.out,
        dense ? "X.train.npy, Y.train.txt" : "train.txt", grouped(options.samples),
        dense ? "X.test.npy, Y.test.txt" : "test.txt",
        grouped(options.test_samples.value_or(options.samples / 10)),
        grouped(dense ? options.dense : options.features), dense ? "dense columns" : "features",
        grouped(options.labels));
}

}  // namespace

void add_generate(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("generate", "Write a synthetic data set, train.txt and test.txt");
  const auto command = std::make_shared<GenerateCommand>();
  GeneratorOptions& options = command->options;
  const auto count = [sub](const char* name, auto& value, const char* meaning, const char* type) {
    return sub->add_option(name, value, meaning)->transform(whole(1, kMaxItems))->type_name(type);
  };
  count("--samples", options.samples, "Training samples", "N")->capture_default_str();
  count("--features", options.features, "Features", "D")->capture_default_str();
  count("--labels", options.labels, "Labels", "L")->capture_default_str();
  sub->add_option("--seed", options.seed, "Seed")
      ->transform(whole(0, kMaxSeed))
      ->capture_default_str()
      ->type_name("S");
  sub->add_option("--out", command->out, "Folder to write to")->type_name("DIR")->required();
  sub->add_option("--test-samples", options.test_samples, "Test samples; default: a tenth")
      ->transform(whole(0, kMaxItems))
      ->type_name("N");
  count("--features-per-sample", options.features_per_sample,
        "Features drawn for a sample, on average; equal ones are one", "N")
      ->capture_default_str();
  count("--labels-per-sample", options.labels_per_sample, "Mean labels of a sample", "N")
      ->capture_default_str();
  sub->add_option("--dense", options.dense, "Dense columns in place of sparse features, in X.train.npy")
      ->transform(whole(1, kMaxColumns))
      ->type_name("D");
  add_threads(*sub, options.threads);
  sub->callback([command, &action] { action = [command] { run_generate(*command); }; });
}

}  // namespace slide::cli
