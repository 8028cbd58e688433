// `slide predict`: the best labels of each sample, a line for each.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/detect.h"
#include "datasets/file_bytes.h"
#include "datasets/labelled_text.h"
#include "datasets/line_chunks.h"
#include "datasets/npz.h"
#include "datasets/reader.h"
#include "engine/base/error.h"
#include "engine/base/number_text.h"
#include "engine/base/parallel.h"
#include "engine/cli/commands.h"
#include "engine/cli/line_source.h"
#include "engine/cli/options.h"
#include "engine/cli/text.h"
#include "engine/inference/inference.h"
#include "engine/run/label_names.h"
#include "engine/run/model_file.h"
#include "engine/run/model_use.h"
#include "engine/run/run_data.h"

namespace slide::cli {

namespace {

constexpr std::size_t kFewSamples = Panel::kLanes;  // one thread's work
// Bounds of the memory of the lines that wait to be printed.
constexpr std::size_t kSamplesAtOnce = 16384;
constexpr std::size_t kLabelsAtOnce = 1ULL << 20;  // but for a panel's samples a thread
constexpr std::size_t kTextAtOnce = 1ULL << 16;
constexpr const char* kStandardInput = "standard input";

struct PredictCommand {
  std::string model;
  std::string data;  // "-": standard input
  std::uint32_t k = 5;
  std::string scores = "probability";  // what a label is printed with: this or "logit"
  std::optional<double> threshold;     // labels with lower scores are left out
  std::string labels;                  // file with names of labels, or empty: those of the model
  ModelUse use;
  bool logits() const { return scores == "logit"; }
};

// The text of one sample's labels. Memory is kept from sample to sample.
class Line {
 public:
  void clear() { size_ = 0; }
  void add(char separator, std::uint32_t label, double score) {
    finish(write_whole(label, begin(separator, kNumberRoom)), score);
  }
  void add(char separator, std::string_view label, double score) {
    char* at = begin(separator, label.size());
    finish(std::copy(label.begin(), label.end(), at), score);
  }
  void end() {
    if (bytes_.empty()) bytes_.resize(1);
    bytes_[size_++] = '\n';
  }
  std::string_view text() const { return {bytes_.data(), size_}; }

 private:
  // Where a label of up to `length` bytes goes.
  char* begin(char separator, std::size_t length) {
    const std::size_t room = size_ + length + kNumberRoom + 3;  // separator, colon, end of line
    if (bytes_.size() < room) bytes_.resize(2 * room);
    if (size_ > 0) bytes_[size_++] = separator;
    return bytes_.data() + size_;
  }
  void finish(char* label_end, double score) {
    *label_end++ = ':';
    size_ = static_cast<std::size_t>(write_six_digits(score, label_end) - bytes_.data());
  }

  std::vector<char> bytes_;
  std::size_t size_ = 0;
};

// Predicts samples and prints a line for each, in their order.
class Answers {
 public:
  Answers(const Model& model, const PredictCommand& command, const Predictor& predictor)
      : loss_(model.config.loss.kind),
        names_(model, command.labels),
        command_(command),
        predictor_(predictor) {}

  void print_all(const Dataset& data) {
    // Whole blocks, whatever k: how samples are grouped shows in the last bits of scores.
    const auto threads = static_cast<std::size_t>(resolve_threads(command_.use.threads));
    const std::size_t blocks = std::max(kLabelsAtOnce / (Panel::kLanes * command_.k), threads);
    const std::size_t count = std::min(blocks * Panel::kLanes, kSamplesAtOnce);
    for (std::size_t first = 0; first < data.size(); first += count)
      print_part(data.slice(first, std::min(count, data.size() - first)));
  }

 private:
  static constexpr std::size_t kAtOnce = 128;  // labels whose scores are taken together

  void print_part(const Dataset& part) {
    text_.clear();
    const InferenceOptions& options = predictor_.options();
    if (lines_.empty()) lines_.resize(1);
    if (part.size() <= kFewSamples) {  // they come in order
      predictor_.predict(part, {options.k, options.log_softmax}, scratch_, [&](std::size_t, auto best) {
        write_line(best, lines_[0]);
        put(lines_[0].text());
      });
    } else {
      if (lines_.size() < part.size()) lines_.resize(part.size());
      const auto take = [&](std::size_t sample, auto best) { write_line(best, lines_[sample]); };
      predictor_.predict(part, threads_scratch_, take);
      for (std::size_t sample = 0; sample < part.size(); ++sample) put(lines_[sample].text());
    }
    print_text(text_);
  }

  // Prints a line together with others, but for a long one.
  void put(std::string_view line) {
    if (text_.size() + line.size() > kTextAtOnce && !text_.empty()) print_text(text_), text_.clear();
    line.size() > kTextAtOnce ? print_text(line) : void(text_ += line);
  }

  // What is printed: logits, or the labels' probabilities.
  void take_scores(std::span<const Prediction> best, double* scores) const {
    std::array<float, kAtOnce> logits;
    for (std::size_t i = 0; i < best.size(); ++i) logits[i] = best[i].score;
    if (command_.logits()) {
      std::copy_n(logits.begin(), best.size(), scores);
    } else {
      probabilities_of(loss_, logits.data(), best.size(), scores);
    }
  }

  void write_line(std::span<const Prediction> best, Line& line) const {
    std::array<double, kAtOnce> scores;
    line.clear();
    for (std::size_t first = 0; first < best.size(); first += kAtOnce) {
      const auto some = best.subspan(first, std::min(kAtOnce, best.size() - first));
      take_scores(some, scores.data());
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (command_.threshold && scores[i] < *command_.threshold) return line.end();  // best first
        if (names_.known()) {
          line.add('\t', names_[some[i].label], scores[i]);
        } else {
          line.add(' ', some[i].label, scores[i]);
        }
      }
    }
    line.end();
  }

  const LossKind loss_;
  const LabelNames names_;
  const PredictCommand& command_;
  const Predictor& predictor_;
  Predictor::Scratch scratch_;
  std::vector<Predictor::Scratch> threads_scratch_;
  std::vector<Line> lines_;
  std::string text_;
};

// A line without anything is a sample without features, so that answers keep the lines' numbers: the libsvm
// reader would skip it, a label keeps it in place.
std::string with_blank_lines_kept(std::string_view text) {
  std::string kept;
  kept.reserve(text.size() + 16);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const bool blank = text.find_first_not_of(" \t\r", begin) >= end;
    kept.append(blank ? "0" : text.substr(begin, end - begin)).push_back('\n');
    begin = end + 1;
  }
  return kept;
}

// Samples that come with a header are read as a whole, to hold them against it.
std::string read_rest(std::string_view start, LineSource& source) {
  std::string text(start);
  for (std::string_view more = source.next(); !more.empty(); more = source.next()) text += more;
  return text;
}

void answer_standard_input(const Model& model, const PredictCommand& command, Answers& answers) {
  LineSource source(STDIN_FILENO);
  ReadOptions options = model_read_options(model, command.use.threads);
  const bool is_text =
      model.text != nullptr && command.use.format.value_or(DataFormat::kText) == DataFormat::kText;
  bool first = true;
  for (std::string_view lines = source.next(); !lines.empty(); lines = source.next()) {
    if (is_text) {
      answers.print_all(parse_plain_text(lines, *model.text, options.normalize, command.use.threads));
      continue;
    }
    options.format = first && has_xmc_header(lines) ? DataFormat::kXmc : DataFormat::kLibsvm;
    first = false;
    if (options.format == DataFormat::kXmc) {
      answers.print_all(parse_dataset(read_rest(lines, source), kStandardInput, options));
      return;
    }
    const std::string kept = with_blank_lines_kept(lines);
    answers.print_all(parse_dataset(kept, kStandardInput, options));
    options.first_line += static_cast<std::uint64_t>(std::count(kept.begin(), kept.end(), '\n'));
  }
}

// Whether a file for a model trained on text holds text, and not features for it.
bool holds_text(std::string_view bytes, const PredictCommand& command) {
  if (command.use.format) return *command.use.format == DataFormat::kText;
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const std::optional<DataFormat> format = detect_format(bytes.substr(0, line.size()));
  return !has_xmc_header(bytes) && !looks_like_features(line) && format != DataFormat::kIdx &&
         format != DataFormat::kNpz;
}

// Returns false when the file holds features.
bool answer_text_file(const Model& model, const PredictCommand& command, Answers& answers) {
  if (model.text == nullptr || is_npz_pair(command.data)) return false;
  const FileBytes bytes(command.data);
  if (!holds_text(bytes.text(), command)) return false;
  for (const std::string_view lines : cut_lines(bytes.text(), LineSource::kMostBytes, [](auto, auto) {})) {
    answers.print_all(parse_plain_text(lines, *model.text, model.config.data.normalize, command.use.threads));
  }
  return true;
}

void run_predict(const PredictCommand& command) {
  Model model = open_model(command.model, command.use);
  tell(model.notes);
  const bool log_softmax = !command.logits() && needs_log_softmax(model.config.loss.kind);
  const Predictor predictor = make_predictor(model, command.use.threads, command.k, log_softmax);
  Answers answers(model, command, predictor);
  if (command.data == "-") {
    answer_standard_input(model, command, answers);
  } else if (!answer_text_file(model, command, answers)) {
    answers.print_all(read_test_data(command.data, model, command.use.threads));
  }
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("predict", "Print the best labels of each sample");
  sub->footer(
      "One line a sample: label:score label:score ..., best first; a model trained on text writes names,\n"
      "with tabs between them. The score is the label's probability: of the softmax over all labels, or of\n"
      "each label's own sigmoid, mixed with the neighbours' vote if the model has them; as a logit, its\n"
      "log-odds, or the logit of the softmax, with neighbours its logarithm. Standard input holds lines\n"
      "of text for a model trained on text, else 'label,label id:value ...' where the labels may be left\n"
      "out (start the line with a blank), or XMC text with its header. Each line is answered as soon as\n"
      "it is read.");
  const auto command = std::make_shared<PredictCommand>();
  sub->add_option("MODEL", command->model, "model.slide of a run")->required();
  sub->add_option("DATA", command->data, "Data file, or - for standard input")->required();
  sub->add_option("--k,--top-k", command->k, "Labels a sample")
      ->capture_default_str()
      ->transform(whole(1, kMostK))
      ->type_name("K");
  const auto take_threshold = [command](const std::string& text) { command->threshold = std::stod(text); };
  sub->add_option_function<std::string>("--threshold", take_threshold, "Leave out labels with lower scores")
      ->check(finite_number())
      ->type_name("SCORE");
  sub->add_option("--scores", command->scores, "Print probabilities or logits")
      ->check(CLI::IsMember({"probability", "logit"}))
      ->capture_default_str()
      ->type_name("probability|logit");
  add_labels(*sub, command->labels);
  add_format(*sub, "--format", "Format of DATA; default: found from its content", command->use.format);
  add_inference(*sub, command->use.inference);
  add_threads(*sub, command->use.threads);
  sub->callback([command, &action] { action = [command] { run_predict(*command); }; });
}

}  // namespace slide::cli
