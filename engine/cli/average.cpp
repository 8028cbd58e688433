// `slide average`: an ensemble of several models of the same data.
#include "engine/model/ensemble.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/commands.h"
#include "engine/cli/convert_model.h"
#include "engine/cli/text.h"

namespace slide::cli {

namespace {

// Makes the ensemble, and prints its size as text or JSON.
void run_average(const EnsembleOptions& options, bool json) {
  tolerate_closed_output();
  const EnsembleResult result = make_ensemble(options);
  print_notes(result.notes);
  if (json) {
    nlohmann::ordered_json all = {{"models", options.models},
                                  {"out", options.out},
                                  {"hidden_units", result.hidden},
                                  {"wide_weights", result.wide_weights}};
    all.update(json_of(result.bytes));
    return print_text(all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
  }
  print("{}: {} models as one of {} hidden units, {}\n", options.out, options.models.size(),
        grouped(result.hidden), memory_text(double(result.bytes.file)));
}

}  // namespace

void add_average(CLI::App& app, Action& action) {
  CLI::App* sub =
      app.add_subcommand("average", "Make an ensemble of models that were trained on the same data");
  sub->footer(
      "The logits of the new model are the means of theirs: of two to four trainings that differ in --seed\n"
      "it is on most sets better than each. All commands take it as they take any model.");
  const auto options = std::make_shared<EnsembleOptions>();
  const auto json = std::make_shared<bool>(false);
  sub->add_option("MODEL", options->models, "Folders of runs, or model files; two or more")->required();
  sub->add_option("--out", options->out, "Model file to write")->required()->type_name("FILE");
  options->replace = false;
  sub->add_flag("--force", options->replace, "Replace a model that is called FILE");
  sub->add_flag("--json", *json, "Print one JSON object");
  sub->callback([options, json, &action] { action = [options, json] { run_average(*options, *json); }; });
}

}  // namespace slide::cli
