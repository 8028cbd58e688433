#include "tests/fuzz/model_uses.h"

#include <slide/data.h>
#include <slide/model.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "engine/base/error.h"
#include "engine/cli/app.h"
#include "engine/serve/predict_api.h"
#include "engine/serve/served_model.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/model_python.h"

namespace slide::fuzz {

namespace {

// What a model may not make a program print, nor ask for.
void check_lines(const std::string& text) {
  const auto control = [](unsigned char c) { return (c < 0x20 && c != '\n') || c == 0x7f; };
  check(std::none_of(text.begin(), text.end(), control), "messages have no control characters");
  check(text.find("out of memory") == std::string::npos, "memory suffices");
}

// Calls `use`; false where it refuses the model.
template <class Use>
bool works(const Use& use, std::string& message) {
  if (accepted<Error>(use, message)) return true;
  check_lines(message);
  return false;
}

bool command(const ModelCase& the_case, std::vector<std::string> words, std::string& message) {
  const int code = run_command(words, the_case.messages, message);
  check(code >= 0 && code <= 2, "the exit code is 0, 1 or 2");
  check_lines(message);
  if (code == 0 || the_case.messages == kNotRedirected) return code == 0;
  const std::size_t line = message.size() < 2 ? 0 : message.rfind('\n', message.size() - 2) + 1;
  check(message.compare(line, 7, "slide: ") == 0 && message.ends_with('\n'), "the last line says why");
  return false;
}

void use_labels(const api::Model& model) {
  std::vector<float> vectors(model.labels() * model.vector_size());
  model.label_vectors(vectors.data());
  check(std::all_of(vectors.begin(), vectors.end(), [](float x) { return std::isfinite(x); }),
        "vectors are finite");
  for (const std::uint32_t label : {std::uint32_t{0}, model.labels() - 1}) {
    for (const api::Related& other : model.nearest_labels(label, 3))
      check(other.id < model.labels() && std::isfinite(other.score), "a similar label is one");
    if (model.is_text())
      check(model.label_id(model.label_name(label)) == label, "a label is known by its name");
    std::string ignored;
    works([&] { model.strongest_features(label, 3); }, ignored);
  }
}

void use_predictions(const api::Model& model, const api::Data& data) {
  api::PredictOptions options;
  options.threads = 1;
  for (const bool low_latency : {false, true}) {
    options.low_latency = low_latency;
    const api::Predictor predictor(model, options);
    const api::Predictions found = predictor.predict(data);
    check(std::all_of(found.scores.begin(), found.scores.end(), [](float x) { return std::isfinite(x); }),
          "scores are finite");
    for (const std::uint32_t label : found.labels)
      check(label < model.labels() || label == api::kNoLabel, "a predicted label is one");
    predictor.predict_reaching(data, 0.5F);
  }
}

bool load(const ModelCase& the_case, std::string& message) {
  return works([&] { api::Model::load(the_case.model, true); }, message);
}

bool use_library(const ModelCase& the_case, std::string& message) {
  return works(
      [&] {
        const api::Model model = api::Model::load(the_case.model, true);
        use_labels(model);
        const api::Data data = api::Data::read(the_case.samples, model);
        use_predictions(model, data);
        if (!the_case.items) api::evaluate(model, data, {}, 1);  // items of a log have no labels apart
      },
      message);
}

bool serve(const ModelCase& the_case, std::string& message) {
  return works(
      [&] {
        serve::ServedModel::Options options;
        options.path = the_case.model;
        options.threads = 1;
        const serve::ServedModel served(options);
        const std::string request = std::string(served.kind()) == "text"    ? R"({"text":"a choir"})"
                                    : std::string(served.kind()) == "items" ? R"({"items":["i1"]})"
                                    : served.model().shape.dense > 0        ? R"({"dense":[1,2]})"
                                                                            : R"({"features":{"0":1}})";
        std::string refused;
        works([&] { serve::answer_predict(request, served, 3).json(); }, refused);
      },
      message);
}

bool inspect(const ModelCase& the_case, std::string& message) {
  return command(the_case, {"inspect", the_case.model}, message) &&
         command(the_case, {"inspect", the_case.model, "--json", "--label", the_case.label}, message);
}

bool predict_lines(const ModelCase& the_case, std::string& message) {
  return command(the_case, {"predict", the_case.model, the_case.samples, "--threads", "1"}, message);
}

bool predict_lsh(const ModelCase& the_case, std::string& message) {
  return command(the_case,
                 {"predict", the_case.model, the_case.samples, "--threads", "1", "--inference", "lsh"},
                 message);
}

bool test(const ModelCase& the_case, std::string& message) {
  std::vector<std::string> words = {"test", the_case.model, the_case.samples, "--threads", "1"};
  if (the_case.items) words.insert(words.end(), {"--known", the_case.samples});
  return command(the_case, words, message);
}

bool vectors(const ModelCase& the_case, std::string& message) {
  return command(the_case, {"vectors", the_case.model, "--threads", "1"}, message);
}

bool convert(const ModelCase& the_case, const char* option, const char* value, std::string& message) {
  std::vector<std::string> words = {"convert", the_case.model, the_case.folder + "/converted", "--force",
                                    option};
  if (value != nullptr) words.emplace_back(value);
  return command(the_case, words, message);
}
bool convert_bf16(const ModelCase& the_case, std::string& message) {
  return convert(the_case, "--weights", "bf16", message);
}
bool convert_int8(const ModelCase& the_case, std::string& message) {
  return convert(the_case, "--weights", "int8", message);
}
bool drop_optimizer(const ModelCase& the_case, std::string& message) {
  return convert(the_case, "--drop-optimizer", nullptr, message);
}

bool average(const ModelCase& the_case, std::string& message) {
  return command(
      the_case, {"average", the_case.model, the_case.model, "--out", the_case.folder + "/average", "--force"},
      message);
}

bool continue_training(const ModelCase& the_case, std::string& message) {
  const std::string out = the_case.folder + "/continued";
  std::filesystem::remove_all(out);
  return command(the_case,
                 {"train", the_case.samples, "--init", the_case.model, "--epochs", "1", "--threads", "1",
                  "--quiet", "--out", out},
                 message);
}

}  // namespace

const std::vector<ModelUse>& model_uses() {
  static const std::vector<ModelUse> uses = [] {
    std::vector<ModelUse> all = {{"load", load},
                                 {"library", use_library},
                                 {"serve", serve},
                                 {"inspect", inspect},
                                 {"predict", predict_lines},
                                 {"predict --inference lsh", predict_lsh},
                                 {"test", test},
                                 {"vectors", vectors},
                                 {"convert --weights bf16", convert_bf16},
                                 {"convert --weights int8", convert_int8},
                                 {"convert --drop-optimizer", drop_optimizer},
                                 {"average", average},
                                 {"train --init", continue_training}};
    if (has_python()) all.push_back({"python", use_python});
    return all;
  }();
  return uses;
}

int run_command(const std::vector<std::string>& words, int messages_file, std::string& messages) {
  std::vector<std::string> held = {"slide"};
  held.insert(held.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : held) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(stderr);
  if (messages_file == kNotRedirected) return cli::run(static_cast<int>(held.size()), arguments.data());
  check(ftruncate(messages_file, 0) == 0 && lseek(messages_file, 0, SEEK_SET) == 0,
        "messages can be cleared");
  const int code = cli::run(static_cast<int>(held.size()), arguments.data());
  std::fflush(stdout);
  std::fflush(stderr);
  messages.resize(static_cast<std::size_t>(std::max<off_t>(0, lseek(messages_file, 0, SEEK_END))));
  const ssize_t got = pread(messages_file, messages.data(), messages.size(), 0);
  messages.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  return code;
}

}  // namespace slide::fuzz
