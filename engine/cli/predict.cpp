// `slide predict`: the top labels of each sample, one line per sample.
#include "engine/cli/predict_run.h"

#include <memory>
#include <string>

#include "engine/cli/commands.h"
#include "engine/cli/options.h"
#include "engine/cli/ranks.h"

namespace slide::cli {

namespace {

// The score file must be .npz.
CLI::Validator npz_name() {
  const auto check = [](const std::string& name) {
    return name.ends_with(".npz") ? std::string() : fmt::format("'{}' must end in .npz", name);
  };
  return {check, ""};
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("predict", "Print the best labels of each sample");
  sub->footer(
      "One line a sample: label:score label:score ..., best first; a model trained on text writes names,\n"
      "with tabs between them. The score is the label's probability: of the softmax over all labels, or of\n"
      "each label's own sigmoid, mixed with the neighbours' vote and raised where labels are likely that\n"
      "it comes with, if the model has neighbours; as a logit, its log-odds, or the logit of the softmax,\n"
      "with neighbours its logarithm. DATA holds lines of text for a model trained on text, else\n"
      "'label,label id:value ...' where the labels may be left out (start the line with a blank), or XMC\n"
      "text with its header, or a matrix without labels, X.npz or X.npy. A line of a pipe is answered as\n"
      "soon as it is read. With --skip-bad, a row with a fault is answered by an empty line. Of\n"
      "interactions, DATA is a log of users; each line begins with the user and a TAB, in the order in\n"
      "which users first occur in DATA.");
  const auto command = std::make_shared<PredictCommand>();
  sub->add_option("MODEL", command->model, "Folder of a run, or a model file")->required();
  sub->add_option("DATA", command->data, "Data file, or a pattern of several, or - for standard input")
      ->required();
  sub->add_option("--k,--top-k", command->k,
                  "Labels a sample; default: 5, or with --threshold all that reach it")
      ->transform(whole(1, kMaxK))
      ->type_name("K");
  const auto take_threshold = [command](const std::string& text) { command->threshold = std::stod(text); };
  sub->add_option_function<std::string>("--threshold", take_threshold,
                                        "Leave out labels with lower scores; without --k, all others are "
                                        "answered")
      ->check(threshold_score())
      ->type_name("SCORE");
  sub->add_option("--scores", command->scores, "Print probabilities or logits")
      ->check(CLI::IsMember({"probability", "logit"}))
      ->capture_default_str()
      ->type_name("probability|logit");
  add_labels(*sub, command->labels);
  sub->add_option("--out", command->out, "Write the scores to this .npz file of SciPy, and print nothing")
      ->check(npz_name())
      ->type_name("FILE.npz");
  CLI::Option* json =
      sub->add_flag("--json", command->json, "Print a JSON object for each sample")->excludes("--out");
  add_explain(*sub, command->explain)->needs(json);
  add_format(*sub, "--format", "Format of DATA; default: found from its content", command->use.format);
  add_inference(*sub, command->use.inference);
  add_rare(*sub, command->use.rare);
  add_known(*sub, command->use.known);
  add_keep_known(*sub, command->use.keep_known);
  add_skip_bad(*sub, command->skip_bad);
  add_strict(*sub, command->strict);
  add_threads(*sub, command->use.threads);
  add_pin(*sub, command->pin);
  sub->callback([command, &action] {
    const std::string fault = probability_fault(command->logits() ? 0 : command->threshold.value_or(0));
    if (!fault.empty())
      throw CLI::ValidationError("--threshold", fault + ", or any number with --scores logit");
    action = [command] {
      run_together("predict", [&](Cluster& cluster) { run_predict(*command, cluster); });
    };
  });
}

}  // namespace slide::cli
