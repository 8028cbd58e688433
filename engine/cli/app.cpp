#include "engine/cli/app.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <new>

#include "engine/base/error.h"
#include "engine/cli/commands.h"
#include "engine/cli/text.h"

namespace slide::cli {

namespace {

constexpr std::uint64_t kMostThreads = 1024;
constexpr std::uint64_t kMostK = 10000;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;
constexpr std::uint64_t kMostWaiting = 1000000;
constexpr double kMostSeconds = 86400;
constexpr std::uint64_t kMostTrials = 1000000;
constexpr double kMostMinutes = 100000;
constexpr std::uint64_t kMostItems = 0xfffffffe;         // ids and their number have 32 bits
constexpr std::uint64_t kMostSeed = 0x7fffffffffffffff;  // what TOML can hold

constexpr const char* kAbout =
    "Trains and uses networks with very many outputs, on the CPU: hash tables find the neurons\n"
    "that will fire, and only those are computed and updated.";

struct Commands {
  TrainCommand train;
  TuneCommand tune;
  TestCommand test;
  PredictCommand predict;
  ServeCommand serve;
  ConvertCommand convert;
  GenerateCommand generate;
  InspectCommand inspect;
  ReportCommand report;
  std::uint32_t threads = 0;  // of all but train
  std::string inference;      // of test, predict
  std::string format;         // of test, predict
  std::string to;             // of convert
  std::string threshold;      // of predict
  std::string scores = "probability";
  std::uint64_t test_samples = 0;
  bool doc = false;   // of config
  std::string shell;  // of completion
  std::function<void()> run;
};

// A whole number from `low` to `high`. The library itself would take -1 for 2^64 - 1 and 010 for 8.
CLI::Validator whole(std::uint64_t low, std::uint64_t high) {
  const auto check = [low, high](std::string& text) -> std::string {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || value < low || value > high) {
      return fmt::format("'{}' is no whole number from {} to {}", text, low, high);
    }
    text = std::to_string(value);
    return {};
  };
  return {check, ""};
}

void add_set(CLI::App& app, std::vector<std::string>& set) {
  app.add_option("--set", set, "Overrides one key of the configuration; may be repeated")
      ->type_name("SECTION.KEY=VALUE")
      ->allow_extra_args(false);
}

void add_threads(CLI::App& app, Commands& c) {
  app.add_option("--threads", c.threads, "Threads, 0 = all cores")
      ->transform(whole(0, kMostThreads))
      ->type_name("N");
}

void add_inference(CLI::App& app, Commands& c) {
  app.add_option("--inference", c.inference, "Score all neurons or only LSH candidates; default: the model's")
      ->check(CLI::IsMember({"full", "lsh"}))
      ->type_name("full|lsh");
}

// A number; the library would take "nan" and trailing text.
CLI::Validator finite_number() {
  const auto check = [](std::string& text) -> std::string {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && std::isfinite(value)) return {};
    return fmt::format("'{}' is no number", text);
  };
  return {check, ""};
}

// Spellings of data.format, but for auto.
const std::map<std::string, DataFormat> kFormats = {{"xmc", DataFormat::kXmc},
                                                    {"libsvm", DataFormat::kLibsvm},
                                                    {"idx", DataFormat::kIdx},
                                                    {"text", DataFormat::kText},
                                                    {"npz", DataFormat::kNpz}};

std::optional<DataFormat> format_of(const std::string& name) {
  if (name.empty()) return std::nullopt;
  return kFormats.at(name);
}

void add_labels(CLI::App& app, std::string& file) {
  app.add_option("--labels", file, "Names of the labels, one a line, label 0 first; default: the model's")
      ->type_name("FILE");
}

void add_format(CLI::App& app, Commands& c) {
  std::vector<std::string> names;
  for (const auto& [name, format] : kFormats) names.push_back(name);
  app.add_option("--format", c.format, "Format of DATA; default: found from its content")
      ->check(CLI::IsMember(names))
      ->type_name("FORMAT");
}

std::optional<Inference> inference_of(const Commands& c) {
  if (c.inference.empty()) return std::nullopt;
  return c.inference == "lsh" ? Inference::kLsh : Inference::kFull;
}

void add_train(CLI::App& app, Commands& c) {
  CLI::App* sub = app.add_subcommand("train", "Train a network as a configuration file says");
  sub->footer(
      "Writes config.toml (resolved), environment.json, metrics.jsonl and model.slide into DIR. Ctrl-C and "
      "SIGTERM\n"
      "save a checkpoint there first; a second one ends at once.");
  CLI::Option* config = sub->add_option("CONFIG", c.train.config, "Configuration file (TOML)");
  CLI::Option* resume = sub->add_option("--resume", c.train.resume,
                                        "Go on with the stopped run in this folder, as if never stopped");
  resume->type_name("DIR")->excludes(config);
  sub->add_option("--set", c.train.set, "Overrides one key of the configuration; may be repeated")
      ->type_name("SECTION.KEY=VALUE")
      ->allow_extra_args(false)
      ->excludes(resume);
  sub->add_option("--threads", c.train.threads, "Threads, 0 = all cores; overrides train.threads")
      ->transform(whole(0, kMostThreads))
      ->type_name("N");
  sub->add_option("--seed", c.train.seed, "Overrides train.seed")
      ->transform(whole(0, kMostSeed))
      ->type_name("N")
      ->excludes(resume);
  sub->add_option("--out", c.train.out, "Folder for the results; default: run/<name of CONFIG>")
      ->type_name("DIR")
      ->excludes(resume);
  sub->add_flag("--quiet", c.train.quiet, "Print nothing but failures");
  sub->callback([&c, config, resume] {
    if (config->empty() && resume->empty()) throw CLI::RequiredError("CONFIG or --resume");
    c.run = [&c] { run_train(c.train); };
  });
}

void add_tune(CLI::App& app, Commands& c) {
  CLI::App* sub = app.add_subcommand("tune", "Search for a better configuration, on training data alone");
  sub->footer(
      "Keeps a part of data.train for validation and changes keys of CONFIG while the mean of P@k over\n"
      "eval.k rises: first one key after the other to its next values, then one or two at random. Keys "
      "given\n"
      "by --set keep their values. Writes the best configuration to FILE.");
  sub->add_option("CONFIG", c.tune.config, "Configuration to begin with (TOML)")->required();
  add_set(*sub, c.tune.set);
  sub->add_option("--minutes", c.tune.minutes, "Time for the whole search")
      ->capture_default_str()
      ->check(CLI::Range(0.001, kMostMinutes))
      ->type_name("M");
  sub->add_option("--trials", c.tune.trials, "Training runs at most")
      ->capture_default_str()
      ->transform(whole(1, kMostTrials))
      ->type_name("N");
  sub->add_option("--train-seconds", c.tune.train_seconds,
                  "Accept only configurations that train on all of data.train in so long, as estimated")
      ->check(CLI::Range(0.001, kMostMinutes * 60))
      ->type_name("S");
  sub->add_option("--threads", c.tune.threads, "Threads, 0 = all cores; overrides train.threads")
      ->transform(whole(0, kMostThreads))
      ->type_name("N");
  sub->add_option("--seed", c.tune.seed, "Overrides train.seed")
      ->transform(whole(0, kMostSeed))
      ->type_name("N");
  sub->add_option("--out", c.tune.out, "File to write; default: run/<name of CONFIG>-tuned.toml")
      ->type_name("FILE");
  sub->callback([&c] { c.run = [&c] { run_tune(c.tune); }; });
}

void add_test(CLI::App& app, Commands& c) {
  CLI::App* sub = app.add_subcommand("test", "Measure a model on a test file");
  sub->add_option("MODEL", c.test.model, "model.slide of a run")->required();
  sub->add_option("DATA", c.test.data, "Test file, read as the training data were")->required();
  sub->add_option("--k", c.test.k, "Ranks to measure at, as 1,3,5; default: the model's eval.k")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(whole(1, kMostK))
      ->type_name("K,K,...");
  add_inference(*sub, c);
  add_threads(*sub, c);
  add_format(*sub, c);
  sub->add_flag("--json", c.test.json, "Print one JSON object");
  sub->callback([&c] {
    c.test.inference = inference_of(c);
    c.test.format = format_of(c.format);
    c.test.threads = static_cast<int>(c.threads);
    c.run = [&c] { run_test(c.test); };
  });
}

void add_predict(CLI::App& app, Commands& c) {
  CLI::App* sub = app.add_subcommand("predict", "Print the best labels of each sample");
  sub->footer(
      "One line a sample: label:score label:score ..., best first; a model trained on text writes names,\n"
      "with tabs between them. The score is the label's probability: of the softmax over all labels, or of\n"
      "each label's own sigmoid, mixed with the neighbours' vote if the model has them; as a logit, its\n"
      "log-odds, or the logit of the softmax, with neighbours its logarithm. Standard input holds lines\n"
      "of text for a model trained on text, else 'label,label id:value ...' where the labels may be left\n"
      "out (start the line with a blank), or XMC text with its header. Each line is answered as soon as\n"
      "it is read.");
  sub->add_option("MODEL", c.predict.model, "model.slide of a run")->required();
  sub->add_option("DATA", c.predict.data, "Data file, or - for standard input")->required();
  sub->add_option("--k,--top-k", c.predict.k, "Labels a sample")
      ->capture_default_str()
      ->transform(whole(1, kMostK))
      ->type_name("K");
  sub->add_option("--threshold", c.threshold, "Leave out labels with lower scores")
      ->check(finite_number())
      ->type_name("SCORE");
  sub->add_option("--scores", c.scores, "Print probabilities or logits")
      ->check(CLI::IsMember({"probability", "logit"}))
      ->capture_default_str()
      ->type_name("probability|logit");
  add_labels(*sub, c.predict.labels);
  add_format(*sub, c);
  add_inference(*sub, c);
  add_threads(*sub, c);
  sub->callback([&c] {
    c.predict.format = format_of(c.format);
    if (!c.threshold.empty()) c.predict.threshold = std::stod(c.threshold);
    c.predict.scores = c.scores == "logit" ? Scores::kLogit : Scores::kProbability;
    c.predict.inference = inference_of(c);
    c.predict.threads = static_cast<int>(c.threads);
    c.run = [&c] { run_predict(c.predict); };
  });
}

void add_serve(CLI::App& app, Commands& c) {
  serve::ServerOptions& server = c.serve.server;
  CLI::App* sub = app.add_subcommand("serve", "Answer predictions over HTTP");
  sub->footer(
      "POST /predict takes {\"text\": \"...\"}, {\"features\": {\"ID\": VALUE}} or {\"inputs\": [...]} and "
      "answers with\n"
      "the best labels; GET /health and GET /metrics (Prometheus) tell how it goes. Prints the address when "
      "it\n"
      "is ready. SIGHUP loads MODEL again; Ctrl-C and SIGTERM answer what is under way and end with exit "
      "code 0.");
  const auto count = [sub](const char* name, auto& value, const char* meaning, std::uint64_t low,
                           std::uint64_t high) {
    sub->add_option(name, value, meaning)->capture_default_str()->transform(whole(low, high))->type_name("N");
  };
  const auto seconds = [sub](const char* name, double& value, const char* meaning) {
    sub->add_option(name, value, meaning)
        ->capture_default_str()
        ->check(CLI::Range(0.001, kMostSeconds))
        ->type_name("S");
  };
  sub->add_option("MODEL", c.serve.model.path, "model.slide of a run")->required();
  sub->add_option("--host", server.host, "Address to listen on")->capture_default_str()->type_name("HOST");
  server.port = 8080;
  count("--port", server.port, "Port; 0 = any that is free", 0, 65535);
  count("--k", server.k, "Labels an answer, when the request does not say", 1, kMostK);
  count("--max-body", server.max_body, "Bytes of a request at most", 1, kMostBytes);
  count("--max-queue", server.max_queue,
        "Requests that may wait for a thread; more are told to come again (503)", 0, kMostWaiting);
  count("--max-connections", server.max_connections, "Connections at once", 1, kMostWaiting);
  seconds("--timeout", server.timeout,
          "Seconds that a request may take to arrive, wait, or have its answer taken");
  seconds("--keep-alive", server.keep_alive, "Seconds that a connection may be idle");
  add_labels(*sub, c.serve.model.labels);
  add_inference(*sub, c);
  add_threads(*sub, c);
  sub->callback([&c] {
    c.serve.model.inference = inference_of(c);
    c.serve.model.threads = c.serve.server.threads = static_cast<int>(c.threads);
    c.run = [&c] { run_serve(c.serve); };
  });
}

// Spellings of FileFormat.
const std::map<std::string, FileFormat> kFileFormats = {{"xmc", FileFormat::kXmc},
                                                        {"libsvm", FileFormat::kLibsvm},
                                                        {"fasttext", FileFormat::kFastText},
                                                        {"tsv", FileFormat::kTsv},
                                                        {"npz", FileFormat::kNpz}};

void add_convert(CLI::App& app, Commands& c) {
  CLI::App* sub = app.add_subcommand("convert", "Turn a data file into another format");
  sub->footer(
      "Text becomes features with the vocabulary of --model, else of one learnt from --fit or IN. Values are "
      "not\n"
      "scaled to unit length: training and prediction do that as they read. An .npz pair is named by its "
      "features,\n"
      "X....npz, with the labels in Y....npz, or as FEATURES.npz,LABELS.npz.");
  sub->add_option("IN", c.convert.in, "Data file of any format")->required();
  sub->add_option("OUT", c.convert.out, "File to write: .xmc, .txt, .libsvm, .svm, .ft, .tsv, .npz")
      ->required();
  std::vector<std::string> names;
  for (const auto& [name, format] : kFormats) names.push_back(name);
  sub->add_option("--from", c.format, "Format of IN; default: found from its content")
      ->check(CLI::IsMember(names))
      ->type_name("FORMAT");
  names.clear();
  for (const auto& [name, format] : kFileFormats) names.push_back(name);
  sub->add_option("--to", c.to, "Format of OUT; default: from its name")
      ->check(CLI::IsMember(names))
      ->type_name("FORMAT");
  CLI::Option* model = sub->add_option("--model", c.convert.model, "Text: use the vocabulary of this model");
  model->type_name("MODEL");
  sub->add_option("--fit", c.convert.fit, "Text: learn the vocabulary from this text")
      ->type_name("FILE")
      ->excludes(model);
  sub->add_option("--set", c.convert.set, "Text: one key of [text]; may be repeated")
      ->type_name("text.KEY=VALUE")
      ->allow_extra_args(false)
      ->excludes(model);
  sub->add_option("--label-names", c.convert.label_names, "Also write the names of the labels, a line each")
      ->type_name("FILE");
  sub->add_option("--feature-names", c.convert.feature_names, "Also write the names of the features")
      ->type_name("FILE");
  sub->add_option("--features", c.convert.features, "Number of features; default: as IN says")
      ->transform(whole(1, kMostItems))
      ->type_name("D");
  sub->add_option("--labels", c.convert.labels, "Number of labels; default: as IN says")
      ->transform(whole(1, kMostItems))
      ->type_name("L");
  sub->add_flag("--one-based", c.convert.one_based, "IN is libsvm whose features count from 1");
  add_threads(*sub, c);
  sub->callback([&c] {
    c.convert.from = format_of(c.format);
    if (!c.to.empty()) c.convert.to = kFileFormats.at(c.to);
    c.convert.threads = static_cast<int>(c.threads);
    c.run = [&c] { run_convert(c.convert); };
  });
}

void add_generate(CLI::App& app, Commands& c) {
  GeneratorOptions& options = c.generate.options;
  CLI::App* sub = app.add_subcommand("generate", "Write a synthetic data set, train.txt and test.txt");
  const auto count = [sub](const char* name, auto& value, const char* meaning, const char* type) {
    return sub->add_option(name, value, meaning)->transform(whole(1, kMostItems))->type_name(type);
  };
  count("--samples", options.samples, "Training samples", "N")->capture_default_str();
  count("--features", options.features, "Features", "D")->capture_default_str();
  count("--labels", options.labels, "Labels", "L")->capture_default_str();
  sub->add_option("--seed", options.seed, "Seed")
      ->transform(whole(0, kMostSeed))
      ->capture_default_str()
      ->type_name("S");
  sub->add_option("--out", c.generate.out, "Folder to write to")->type_name("DIR")->required();
  CLI::Option* test = sub->add_option("--test-samples", c.test_samples, "Test samples; default: a tenth");
  test->transform(whole(0, kMostItems))->type_name("N");
  count("--features-per-sample", options.features_per_sample, "Mean features of a sample", "N")
      ->capture_default_str();
  count("--labels-per-sample", options.labels_per_sample, "Mean labels of a sample", "N")
      ->capture_default_str();
  add_threads(*sub, c);
  sub->callback([&c, test] {
    if (test->count() > 0) c.generate.options.test_samples = c.test_samples;
    c.generate.options.threads = static_cast<int>(c.threads);
    c.run = [&c] { run_generate(c.generate); };
  });
}

void add_inspect(CLI::App& app, Commands& c) {
  CLI::App* sub =
      app.add_subcommand("inspect", "Tell what a model or a configuration is: layers, memory, tables");
  sub->add_option("SUBJECT", c.inspect.subject, "model.slide of a run, or a configuration file")
      ->type_name("MODEL|CONFIG")
      ->required();
  add_set(*sub, c.inspect.set);
  sub->add_option("--features", c.inspect.features,
                  "Configuration: features of the data; default: read data.train")
      ->transform(whole(1, kMostItems))
      ->type_name("D");
  sub->add_option("--labels", c.inspect.labels, "Configuration: labels of the data; default: read data.train")
      ->transform(whole(1, kMostItems))
      ->type_name("L");
  sub->add_option(
         "--label", c.inspect.show_labels,
         "Model: nearest labels and strongest features of this label, by name or id; may be repeated")
      ->type_name("LABEL")
      ->allow_extra_args(false);
  sub->add_option("--k", c.inspect.k, "Model: so many of them")
      ->capture_default_str()
      ->transform(whole(1, kMostK))
      ->type_name("K");
  add_threads(*sub, c);
  sub->callback([&c] {
    c.inspect.threads = static_cast<int>(c.threads);
    c.run = [&c] { run_inspect(c.inspect); };
  });
}

void add_report(CLI::App& app, Commands& c) {
  CLI::App* sub = app.add_subcommand("report", "Compare training runs on one page of HTML");
  sub->footer(
      "The page needs no network and no other file: curves, time by phase, hash tables, accuracy by label "
      "frequency\n"
      "and memory of the runs, and what differs in their settings. Runs that still go on or were stopped can "
      "be\n"
      "among them. FILE is replaced when it is a report.");
  sub->add_option("RUN", c.report.runs,
                  "Folder of a run of 'slide train', or its metrics.jsonl; may be repeated")
      ->required();
  sub->add_option("-o,--out", c.report.out, "File to write")->capture_default_str()->type_name("FILE");
  sub->callback([&c] { c.run = [&c] { run_report(c.report); }; });
}

void add_config(CLI::App& app, Commands& c) {
  CLI::App* sub = app.add_subcommand("config", "Document the configuration");
  sub->add_flag("--doc", c.doc, "Print every key with type, default, range and meaning (Markdown)")
      ->required();
  sub->callback([&c] { c.run = run_config_doc; });
}

// Long and short names of a command's options, each once.
std::string option_names(const CLI::App& app) {
  std::string names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : " --") + name;
  }
  return names;
}

// Completes commands, their options and, everywhere else, files.
std::string bash_completion(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    commands += (commands.empty() ? "" : " ") + sub->get_name();
    cases += fmt::format("    {}) words='{}' ;;\n", sub->get_name(), option_names(*sub));
  }
  return fmt::format(
      "# bash completion of slide; made by 'slide completion bash'\n"
      "_slide() {{\n"
      "  local words=''\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{} {}' -- \"${{COMP_WORDS[1]}}\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "{}"
      "  esac\n"
      "  case ${{COMP_WORDS[COMP_CWORD]}} in\n"
      "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\")) ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o default -F _slide slide\n",
      commands, option_names(app), cases);
}

void add_completion(CLI::App& app, Commands& c) {
  CLI::App* sub =
      app.add_subcommand("completion", "Print a script that completes commands and options in a shell");
  sub->footer("For this shell: source <(slide completion bash)");
  sub->add_option("SHELL", c.shell, "Shell to complete in")->required()->check(CLI::IsMember({"bash"}));
  sub->callback([&app, &c] { c.run = [&app] { print_text(bash_completion(app)); }; });
}

// Text as roff takes it: no line begins a request, no dash becomes a hyphen.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (escaped.empty() || escaped.back() == '\n') escaped += c == '.' || c == '\'' ? "\\&" : "";
    escaped += c == '-' ? "\\-" : c == '\\' ? "\\e" : std::string(1, c);
  }
  return escaped;
}

std::string man_of(const CLI::App& sub) {
  std::string page = fmt::format(".SS slide {}\n{}.\n", roff(sub.get_name()), roff(sub.get_description()));
  for (const CLI::Option* option : sub.get_options()) {
    const std::string type =
        option->get_expected_max() > 0 && !option->get_positional() ? option->get_type_name() : "";
    page += fmt::format(".TP\n\\fB{}\\fR {}\n{}\n", roff(option->get_name(false, true)), roff(type),
                        roff(option->get_description()));
  }
  if (!sub.get_footer().empty()) page += fmt::format(".PP\n{}\n", roff(sub.get_footer()));
  return page;
}

std::string man_page(const CLI::App& app) {
  std::string page = ".TH SLIDE 1 \"\" \"slide " SLIDE_VERSION
                     "\"\n.SH NAME\nslide \\- train and use networks with very many outputs\n"
                     ".SH SYNOPSIS\n.B slide\nCOMMAND [ARGUMENT ...]\n";
  page += fmt::format(".SH DESCRIPTION\n{}\n.SH COMMANDS\n", roff(app.get_description()));
  for (const CLI::App* sub : app.get_subcommands(nullptr)) page += man_of(*sub);
  return page + fmt::format(".SH EXIT STATUS\n{}\n", roff(app.get_footer()));
}

void add_man(CLI::App& app, Commands& c) {
  CLI::App* sub = app.add_subcommand("man", "Print the manual page");
  sub->footer("To read it: slide man | man -l -");
  sub->callback([&app, &c] { c.run = [&app] { print_text(man_page(app)); }; });
}

int fail(int code, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "slide: {}\n", message);
  return code;
}

int execute(const std::function<void()>& command) {
  try {
    command();
    return kExitDone;
  } catch (const Interrupted& stop) {
    return stop.code;
  } catch (const InputError& error) {
    return fail(kExitBadInput, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kExitFailed, "out of memory; 'slide inspect' tells how much a configuration needs");
  } catch (const std::exception& error) {
    return fail(kExitFailed, error.what());
  } catch (...) {
    return fail(kExitFailed, "unknown failure");
  }
}

}  // namespace

int run(int argc, char** argv) {
  Commands commands;
  CLI::App app(kAbout, "slide");
  app.set_version_flag("--version", "slide " SLIDE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 the run failed, 2 bad usage, configuration, data or model,\n"
      "130 and 143 stopped by Ctrl-C and SIGTERM.");
  add_train(app, commands);
  add_tune(app, commands);
  add_test(app, commands);
  add_predict(app, commands);
  add_serve(app, commands);
  add_convert(app, commands);
  add_generate(app, commands);
  add_inspect(app, commands);
  add_report(app, commands);
  add_config(app, commands);
  add_completion(app, commands);
  add_man(app, commands);
  const auto commands_known = app.get_subcommands(nullptr);
  const auto is_named = [&](const CLI::App* sub) { return sub->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(commands_known.begin(), commands_known.end(), is_named)) {
    return fail(kExitBadInput, fmt::format("unknown command '{}'; see 'slide --help'", argv[1]));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return fail(kExitBadInput, fmt::format("{}; see 'slide --help'", error.what()));
  }
  return execute(commands.run);
}

}  // namespace slide::cli
