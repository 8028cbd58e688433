// `slide test`: the measures of a model on a file.
#include <algorithm>
#include <memory>

#include "engine/cli/bad_rows.h"
#include "engine/cli/commands.h"
#include "engine/cli/options.h"
#include "engine/cli/ranks.h"
#include "engine/cli/text.h"
#include "engine/run/model_use.h"
#include "engine/run/ranks.h"

namespace slide::cli {

namespace {

struct TestCommand {
  std::string model;
  std::string data;
  std::vector<std::uint32_t> k;  // empty: eval.k of the model
  ModelUse use;
  bool json = false;
  bool pin = false;
  bool skip_bad = false;
};

std::string table(const Metrics& metrics, std::vector<std::uint32_t> ks) {
  std::sort(ks.begin(), ks.end());
  ks.erase(std::unique(ks.begin(), ks.end()), ks.end());
  std::string text = fmt::format("{:>6} {:>8} {:>8} {:>8} {:>8}\n", "k", "P", "nDCG", "PSP", "recall");
  for (const std::uint32_t k : ks) {
    text += fmt::format("{:>6} {:>8.4f} {:>8.4f} {:>8.4f} {:>8.4f}\n", k, metrics.precision(k),
                        metrics.ndcg(k), metrics.psp(k), metrics.recall(k));
  }
  return text;
}

nlohmann::ordered_json to_json(const TestResult& result) {
  nlohmann::ordered_json json = {{"samples", result.samples}, {"seconds", result.seconds}};
  json.update(result.metrics.to_json());
  json["bad_rows"] = result.report.bad_rows;
  json["samples_without_known_features"] = result.unknown.empty_rows;
  json["unknown_features"] = result.unknown.features;
  json["unknown_labels"] = result.unknown.labels;
  return json;
}

void run_test(const TestCommand& command, Cluster& cluster) {
  const int threads = own_threads(command.use.threads, &cluster);
  const auto pinning = pinned(command.pin, threads, &cluster);
  Model model = open_model(command.model, command.use, &cluster);
  tell(model.notes);
  const std::vector<std::uint32_t> ks = command.k.empty() ? model.config.eval.k : command.k;
  const TestResult result = test_model(model, command.data, ks, threads, command.skip_bad, &cluster);
  BadRows bad;
  bad.add(result.report);
  const std::string unknown = told(result.unknown, command.data, result.samples);
  if (!unknown.empty()) tell({unknown});
  if (command.json) {
    print("{}\n", to_json(result).dump());
  } else {
    print("{} samples in {:.2f} s\n{}", grouped(result.samples), result.seconds, table(result.metrics, ks));
  }
  bad.end();
}

}  // namespace

void add_test(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("test", "Measure a model on a test file");
  const auto command = std::make_shared<TestCommand>();
  sub->add_option("MODEL", command->model, "Folder of a run, or its model.slide")->required();
  sub->add_option("DATA", command->data, "Test file, read as the training data were")->required();
  sub->add_option("--k", command->k, "Ranks to measure at, as 1,3,5; default: the model's eval.k")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(whole(1, kMostK))
      ->type_name("K,K,...");
  add_inference(*sub, command->use.inference);
  add_threads(*sub, command->use.threads);
  add_pin(*sub, command->pin);
  add_format(*sub, "--format", "Format of DATA; default: found from its content", command->use.format);
  add_skip_bad(*sub, command->skip_bad);
  sub->add_flag("--json", command->json, "Print one JSON object");
  sub->callback([command, &action] {
    action = [command] { run_together([&](Cluster& cluster) { run_test(*command, cluster); }); };
  });
}

}  // namespace slide::cli
