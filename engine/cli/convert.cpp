// `slide convert`: converts data between formats, or compresses a model.
#include "engine/run/convert.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/base/error.h"
#include "engine/cli/bad_rows.h"
#include "engine/cli/commands.h"
#include "engine/cli/convert_model.h"
#include "engine/cli/options.h"
#include "engine/cli/source.h"
#include "engine/cli/text.h"
#include "engine/cli/warnings.h"

namespace slide::cli {

namespace {

struct ConvertCommand {
  ConvertOptions options;
  QuantizeCommand smaller;  // where IN is a model
  bool json = false;
  bool force = false;
  bool strict = false;
};

std::string to_json(const ConvertResult& result, const std::string& out) {
  nlohmann::ordered_json json = {
      {"out", out}, {"samples", result.samples}, {"features", nullptr}, {"labels", nullptr}};
  if (result.data)
    json.update({{"features", result.data->feature_count()}, {"labels", result.data->label_count()}});
  json["bad_rows"] = result.report.bad_rows;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

void run_convert(const ConvertCommand& command) {
  tolerate_closed_output();
  ConvertOptions options = command.options;
  Warnings warnings(command.strict);
  options.warned = [&](const ReadReport& report) { warnings.add(report); };
  const ConvertResult result = convert_data(options);
  BadRows bad;
  bad.add(result.report);
  if (command.json) {
    print_text(to_json(result, options.out));
  } else if (!result.data) {
    print("{}: {} samples\n", options.out, grouped(result.samples));
  } else {
    print("{}: {} samples, {} features, {} labels\n", options.out, grouped(result.samples),
          grouped(result.data->feature_count()), grouped(result.data->label_count()));
  }
  bad.end();
}

// Whether IN is a model. Throws InputError for options that apply to data only.
bool is_of_model(const CLI::App& app, const ConvertCommand& command) {
  if (!command.smaller.any() && !names_model(command.options.in)) return false;
  constexpr const char* kForData[] = {"--from",   "--to",          "--model",         "--fit",
                                      "--set",    "--label-names", "--feature-names", "--features",
                                      "--labels", "--one-based",   "--skip-bad",      "--strict"};
  for (const char* option : kForData) {
    if (app.count(option) == 0) continue;
    fail_input("{}: {} is for data, not for a model; leave it out", command.options.in, option);
  }
  return true;
}

// Options of text conversion, and for both kinds of names.
void add_text_options(CLI::App& app, ConvertOptions& options) {
  CLI::Option* model = app.add_option("--model", options.model, "Text: use the vocabulary of this model");
  model->type_name("MODEL");
  app.add_option("--fit", options.fit, "Text: learn the vocabulary from this text")
      ->type_name("FILE")
      ->excludes(model);
  app.add_option("--set", options.set, "Text: one key of [text], or a column of [data]; may be repeated")
      ->type_name("text.KEY=VALUE")
      ->allow_extra_args(false)
      ->excludes(model);
  app.add_option("--label-names", options.label_names, "Also write the names of the labels, a line each")
      ->type_name("FILE");
  app.add_option("--feature-names", options.feature_names, "Also write the names of the features")
      ->type_name("FILE");
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  CLI::App* sub =
      app.add_subcommand("convert", "Convert a data file into another format, or quantize a model");
  sub->footer(
      "Text becomes features with the vocabulary of --model, else of one learnt from --fit or IN. Values are "
      "not\n"
      "scaled to unit length: training and prediction do that as they read. An .npz pair is named by its "
      "features,\n"
      "X....npz, with the labels in Y....npz, or as FEATURES.npz,LABELS.npz.\n"
      "A model, or the folder of a run, becomes a smaller model file: say --drop-optimizer, --weights or "
      "--prune;\nwith --threshold it also keeps the threshold of its predictions.");
  const auto command = std::make_shared<ConvertCommand>();
  ConvertOptions* options = &command->options;
  sub->add_option("IN", options->in,
                  "Data file of any format, or a pattern of several; or a model, or the folder of a run")
      ->required();
  sub->add_option("OUT", options->out,
                  "File to write: .xmc, .txt, .libsvm, .svm, .ft, .tsv, .npz; or a model")
      ->required();
  add_format(*sub, "--from", "Format of IN; default: found from its content", options->from);
  std::vector<std::string> words;
  for (const NamedFormat& known : kFileFormats) words.emplace_back(known.name);
  const auto take_to = [command](const std::string& word) { command->options.to = format_of_word(word); };
  sub->add_option_function<std::string>("--to", take_to, "Format of OUT; default: from its name")
      ->check(CLI::IsMember(words))
      ->type_name("FORMAT");
  add_text_options(*sub, *options);
  add_quantize(*sub, command->smaller);
  sub->add_flag("--force", command->force, "Replace a model that is called OUT");
  sub->add_option("--features", options->features, "Number of features; default: as IN says")
      ->transform(whole(1, kMaxItems))
      ->type_name("D");
  sub->add_option("--labels", options->labels, "Number of labels; default: as IN says")
      ->transform(whole(1, kMaxItems))
      ->type_name("L");
  sub->add_flag("--one-based", options->one_based, "IN is libsvm whose features count from 1");
  add_skip_bad(*sub, options->skip_bad);
  add_strict(*sub, command->strict);
  add_threads(*sub, options->threads);
  sub->add_flag("--json", command->json, "Print one JSON object");
  sub->callback([command, sub, &action] {
    action = [command, sub] {
      command->options.replace_models = command->smaller.options.replace = command->force;
      if (!is_of_model(*sub, *command)) return run_convert(*command);
      command->smaller.options.model = command->options.in;
      command->smaller.options.out = command->options.out;
      command->smaller.options.threads = command->options.threads;
      tolerate_closed_output();
      run_quantize(command->smaller, command->json);
    };
  });
}

}  // namespace slide::cli
