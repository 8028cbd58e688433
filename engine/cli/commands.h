// The commands of the program: what each is told on the command line, and the function that runs it.
//
// A command prints its results to standard output and throws what goes wrong; app.cpp turns that into a
// message and an exit code. One command runs in a process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/generator.h"
#include "engine/config/config.h"
#include "engine/run/model_file.h"
#include "engine/serve/http_server.h"

namespace slide::cli {

// What a command throws when a signal stopped it and it has said so; `code` is the exit code.
struct Interrupted {
  int code;
};

struct TrainCommand {
  std::string config;  // empty: that of `resume`
  std::vector<std::string> set;
  std::optional<std::uint32_t> threads;
  std::optional<std::uint64_t> seed;
  std::string out;  // empty: run/<name of the configuration>
  bool quiet = false;
  std::string resume;  // folder of a stopped run to go on with, or empty
};
void run_train(const TrainCommand& command);

struct TuneCommand {
  std::string config;
  std::vector<std::string> set;
  std::optional<std::uint32_t> threads;
  std::optional<std::uint64_t> seed;
  double minutes = 10.0;
  std::uint32_t trials = 1000;
  std::optional<double> train_seconds;  // of training on all the data, at most
  std::string out;                      // empty: run/<name of the configuration>-tuned.toml
};
void run_tune(const TuneCommand& command);

struct TestCommand {
  std::string model;
  std::string data;
  std::vector<std::uint32_t> k;        // empty: eval.k of the model
  std::optional<Inference> inference;  // none: eval.inference of the model
  std::optional<DataFormat> format;    // none: the model's data.format
  int threads = 0;
  bool json = false;
};
void run_test(const TestCommand& command);

// What a predicted label is printed with.
enum class Scores { kProbability, kLogit };

struct PredictCommand {
  std::string model;
  std::string data;  // "-": standard input
  std::uint32_t k = 5;
  Scores scores = Scores::kProbability;
  std::optional<double> threshold;  // labels with lower scores are left out
  std::optional<Inference> inference;
  std::optional<DataFormat> format;  // none: the model's data.format
  std::string labels;                // file with names of labels, or empty: those of the model
  int threads = 0;
};
void run_predict(const PredictCommand& command);

struct ServeCommand {
  serve::ServedModel::Options model;
  serve::ServerOptions server;
};
void run_serve(const ServeCommand& command);

// What `slide convert` writes.
enum class FileFormat { kXmc, kLibsvm, kFastText, kTsv, kNpz };

struct ConvertCommand {
  std::string in;
  std::string out;
  std::optional<DataFormat> from;  // none: from the content
  std::optional<FileFormat> to;    // none: from the name
  std::string model;               // text: its vocabulary; else empty
  std::string fit;                 // text: the file to learn the vocabulary from; empty: `in`
  std::vector<std::string> set;    // text: keys of [text]
  std::string label_names;         // files to write names to, a line each; empty: none
  std::string feature_names;
  std::uint32_t features = 0;  // sizes of the data, 0 = as they say
  std::uint32_t labels = 0;
  bool one_based = false;  // `in` is libsvm whose features count from 1
  int threads = 0;
};
void run_convert(const ConvertCommand& command);

struct GenerateCommand {
  GeneratorOptions options;
  std::string out;
};
void run_generate(const GenerateCommand& command);

struct InspectCommand {
  std::string subject;  // a model or a configuration
  std::vector<std::string> set;
  std::uint32_t features = 0;  // configuration: sizes of the data, 0 = read data.train
  std::uint32_t labels = 0;
  std::vector<std::string> show_labels;  // model: labels to tell about, by name or id
  std::uint32_t k = 10;                  // nearest labels and strongest features of each
  int threads = 0;
};
void run_inspect(const InspectCommand& command);
// Its answer about one label. Throws InputError when the model has no such label.
void print_label(const Model& model, const std::string& name, std::size_t count);

struct ReportCommand {
  std::vector<std::string> runs;  // folders, or their metrics.jsonl
  std::string out = "report.html";
};
void run_report(const ReportCommand& command);

// `slide config --doc`.
void run_config_doc();

}  // namespace slide::cli
