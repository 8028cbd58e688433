// `slide convert`: data from one format into another.
#include "engine/run/convert.h"

#include <memory>

#include "engine/cli/bad_rows.h"
#include "engine/cli/commands.h"
#include "engine/cli/options.h"
#include "engine/cli/text.h"

namespace slide::cli {

namespace {

void run_convert(const ConvertOptions& options) {
  go_on_without_output();
  const ConvertResult result = convert_data(options);
  BadRows bad;
  bad.add(result.report);
  if (!result.data) {
    print("{}: {} samples\n", options.out, grouped(result.samples));
  } else {
    print("{}: {} samples, {} features, {} labels\n", options.out, grouped(result.samples),
          grouped(result.data->feature_count()), grouped(result.data->label_count()));
  }
  bad.end();
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("convert", "Turn a data file into another format");
  sub->footer(
      "Text becomes features with the vocabulary of --model, else of one learnt from --fit or IN. Values are "
      "not\n"
      "scaled to unit length: training and prediction do that as they read. An .npz pair is named by its "
      "features,\n"
      "X....npz, with the labels in Y....npz, or as FEATURES.npz,LABELS.npz.");
  const auto options = std::make_shared<ConvertOptions>();
  sub->add_option("IN", options->in, "Data file of any format")->required();
  sub->add_option("OUT", options->out, "File to write: .xmc, .txt, .libsvm, .svm, .ft, .tsv, .npz")
      ->required();
  add_format(*sub, "--from", "Format of IN; default: found from its content", options->from);
  std::vector<std::string> words;
  for (const NamedFormat& known : kFileFormats) words.emplace_back(known.name);
  const auto take_to = [options](const std::string& word) { options->to = format_of_word(word); };
  sub->add_option_function<std::string>("--to", take_to, "Format of OUT; default: from its name")
      ->check(CLI::IsMember(words))
      ->type_name("FORMAT");
  CLI::Option* model = sub->add_option("--model", options->model, "Text: use the vocabulary of this model");
  model->type_name("MODEL");
  sub->add_option("--fit", options->fit, "Text: learn the vocabulary from this text")
      ->type_name("FILE")
      ->excludes(model);
  sub->add_option("--set", options->set, "Text: one key of [text], or a column of [data]; may be repeated")
      ->type_name("text.KEY=VALUE")
      ->allow_extra_args(false)
      ->excludes(model);
  sub->add_option("--label-names", options->label_names, "Also write the names of the labels, a line each")
      ->type_name("FILE");
  sub->add_option("--feature-names", options->feature_names, "Also write the names of the features")
      ->type_name("FILE");
  sub->add_option("--features", options->features, "Number of features; default: as IN says")
      ->transform(whole(1, kMostItems))
      ->type_name("D");
  sub->add_option("--labels", options->labels, "Number of labels; default: as IN says")
      ->transform(whole(1, kMostItems))
      ->type_name("L");
  sub->add_flag("--one-based", options->one_based, "IN is libsvm whose features count from 1");
  add_skip_bad(*sub, options->skip_bad);
  add_threads(*sub, options->threads);
  sub->callback([options, &action] { action = [options] { run_convert(*options); }; });
}

}  // namespace slide::cli
