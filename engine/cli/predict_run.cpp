#include "engine/cli/predict_run.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "datasets/formats/interactions.h"
#include "datasets/row_stream.h"
#include "datasets/rows/data_parts.h"
#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/base/number_text.h"
#include "engine/base/parallel.h"
#include "engine/cli/bad_rows.h"
#include "engine/cli/commands.h"
#include "engine/cli/line_source.h"
#include "engine/cli/options.h"
#include "engine/cli/ranks.h"
#include "engine/cli/rows_read.h"
#include "engine/cli/sample_input.h"
#include "engine/cli/score_line.h"
#include "engine/cli/score_table.h"
#include "engine/cli/text.h"
#include "engine/cli/warnings.h"
#include "engine/inference/attribution.h"
#include "engine/inference/decisions.h"
#include "engine/inference/inference.h"
#include "engine/inference/reaching.h"
#include "engine/model/model_file.h"
#include "engine/model/output_files.h"
#include "engine/run/item_titles.h"
#include "engine/run/label_names.h"
#include "engine/run/ranks.h"
#include "engine/run/users_log.h"
#include "engine/serve/predict_api.h"

namespace slide::cli {

namespace {

constexpr std::size_t kFewSamples = PredictionBatch::kLanes;  // work for one thread
// Bounds of the memory of pending output lines.
constexpr std::size_t kSamplesAtOnce = 16384;
constexpr std::size_t kLabelsAtOnce = 1ULL << 20;  // unless one block of samples per thread has more
constexpr std::size_t kReachingAtOnce = 1ULL << 24;
constexpr std::size_t kTextAtOnce = 1ULL << 16;

// Standard output, or a file in its place. One thread.
class TextOut {
 public:
  explicit TextOut(const std::string& path) {
    if (!path.empty()) file_.emplace(path);
  }
  void put(std::string_view text) { file_ ? file_->write(text) : print_text(text); }
  void finish() {
    if (file_) file_->finish();
  }

 private:
  std::optional<AtomicFile> file_;
};

// Predicts samples and prints a line for each, in order. Collective with several processes.
class Answers {
 public:
  Answers(Model& model, const PredictCommand& command, Cluster& cluster, int threads, bool by_row)
      : model_(model),
        loss_(model.config.loss.kind),
        names_(model, command.labels),
        command_(command),
        thresholds_(command.thresholds(model)),
        threads_(threads),
        labels_(model.network.labels()),
        out_(command.text_out) {
    if (!command.titles.empty()) titles_.emplace(model, command.titles);
    const bool log_softmax = !command.logits() && is_normalised(loss_);
    const std::size_t k = reaching() ? labels_ : command.wanted();
    if (cluster.size() > 1) {
      shared_ = make_shared_predictor(model, cluster, threads_, k, log_softmax, by_row);
    } else {
      predictor_.emplace(make_predictor(model, threads_, k, log_softmax, by_row));
    }
  }

  const LabelNames& names() const { return names_; }
  const std::optional<ItemTitles>& titles() const { return titles_; }

  // Writes the collected scores, or ends the file of text.
  void finish() {
    if (!command_.out.empty()) table_.write(command_.out, labels_, names_);
    out_.finish();
  }

  // Predicts and prints all samples, in order, kSamplesAtOnce or fewer at a time. Prints no label for the
  // malformed rows `bad` (ascending). `users`: the user of each row, or nullptr.
  void print_all(const Dataset& data, std::span<const std::uint64_t> bad, const LogUsers* users = nullptr) {
    users_ = users;
    // Whole blocks for any k: the grouping of a file's samples affects the last bits of scores.
    const auto threads = static_cast<std::size_t>(threads_);
    const std::size_t labels = reaching() ? labels_ : command_.wanted();
    const std::size_t limit = reaching() ? kReachingAtOnce : kLabelsAtOnce;
    const std::size_t blocks = std::max(limit / (PredictionBatch::kLanes * labels), threads);
    // Explanations are made on one thread, in the order of the samples.
    const std::size_t count =
        command_.explain > 0 ? kFewSamples : std::min(blocks * PredictionBatch::kLanes, kSamplesAtOnce);
    bad_ = bad;
    for (first_ = 0; first_ < data.size(); first_ += count)
      print_part(data.slice(first_, std::min(count, data.size() - first_)));
  }

 private:
  // Whether all labels that reach their thresholds are answered, however many.
  bool reaching() const { return thresholds_ && !command_.k; }
  // Whether a score, rounded as in the output, reaches a threshold.
  bool reaches(double score, double threshold) const {
    if (!command_.out.empty()) return reaches_float(static_cast<float>(score), threshold);
    return reaches_written(score, threshold);
  }

  static constexpr std::size_t kAtOnce = 128;  // labels whose scores are converted together

  // Prints the answers of a part in the order of its samples: threads answer in any order, into a line per
  // sample.
  void print_part(const Dataset& part) {
    part_ = part;
    if (!command_.out.empty()) return keep_part(part);
    text_.clear();
    if (lines_.empty()) lines_.resize(1);
    const auto take_next = [&](std::size_t sample, auto best) {
      write_answer(sample, best, lines_[0]);
      put(lines_[0].text());
    };
    if (shared_) {
      shared_->predict(part, take_next);
    } else if (part.size() <= kFewSamples && !reaching()) {  // results arrive in order
      predict(part, take_next);
    } else {
      if (lines_.size() < part.size()) lines_.resize(part.size());
      predict(part, [&](std::size_t sample, auto best) { write_answer(sample, best, lines_[sample]); });
      for (std::size_t sample = 0; sample < part.size(); ++sample) put(lines_[sample].text());
    }
    out_.put(text_);
  }

  // Keeps the answers of a part for the score file (--out).
  void keep_part(const Dataset& part) {
    if (rows_.size() < part.size()) rows_.resize(part.size());
    const auto keep = [&](std::size_t sample, auto best) { keep_answer(sample, best, rows_[sample]); };
    if (shared_) {
      shared_->predict(part, keep);
    } else {
      predict(part, keep);
    }
    for (std::size_t sample = 0; sample < part.size(); ++sample) {
      table_.add_row(rows_[sample]);
      if (users_ != nullptr) table_.add_user(users_->name(first_ + sample));
    }
  }

  // Few samples in their order, on this thread.
  void predict(const Dataset& part, const Predictor::Sink& sink) {
    const auto call = [&](const Dataset& rows, const Predictor::Wanted& wanted, const Predictor::Sink& take) {
      if (rows.size() <= kFewSamples) return predictor_->predict(rows, wanted, scratch_, take);
      predictor_->predict(rows, wanted, threads_scratch_, take);
    };
    const Predictor::Wanted wanted = {command_.wanted(), predictor_->options().log_softmax};
    if (!reaching()) return call(part, wanted, sink);
    predict_reaching(
        part, wanted, {labels_, 0}, [&](float score) { return reaches(written(score), thresholds_->min()); },
        call, sink);
  }

  // One score of the network as it is printed: probability or logit.
  double written(float score) const {
    double value = 0;
    take_scores(std::array{Prediction{0, score}}, &value);
    return value;
  }

  // Buffers a line for output; long lines are written directly.
  void put(std::string_view line) {
    if (text_.size() + line.size() > kTextAtOnce && !text_.empty()) out_.put(text_), text_.clear();
    line.size() > kTextAtOnce ? out_.put(line) : void(text_ += line);
  }

  // The printed scores: logits or probabilities.
  void take_scores(std::span<const Prediction> best, double* scores) const {
    std::array<float, kAtOnce> logits;
    for (std::size_t i = 0; i < best.size(); ++i) logits[i] = best[i].score;
    if (command_.logits()) {
      std::copy_n(logits.begin(), best.size(), scores);
    } else {
      probabilities_of(loss_, logits.data(), best.size(), scores);
    }
  }

  // Calls take(label, score) for the answer to a sample of the part, best first.
  template <class Take>
  void for_each_label(std::size_t sample, std::span<const Prediction> best, const Take& take) const {
    if (std::binary_search(bad_.begin(), bad_.end(), first_ + sample)) return;
    std::array<double, kAtOnce> scores;
    for (std::size_t first = 0; first < best.size(); first += kAtOnce) {
      const auto some = best.subspan(first, std::min(kAtOnce, best.size() - first));
      take_scores(some, scores.data());
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (thresholds_ && !reaches(scores[i], thresholds_->of(some[i].label))) continue;
        take(some[i].label, scores[i]);
      }
    }
  }

  void write_answer(std::size_t sample, std::span<const Prediction> best, ScoreLine& line) const {
    line.clear();
    if (command_.json) {
      line.set(json_of(sample, best));
      return line.end();
    }
    if (command_.tsv) return line.set(rows_of(sample, best));
    if (users_ != nullptr) line.begin_with(users_->name(first_ + sample));
    for_each_label(sample, best, [&](std::uint32_t label, double score) {
      if (names_.known()) {
        line.add('\t', names_[label], score);
      } else {
        line.add(' ', label, score);
      }
    });
    line.end();
  }

  // "user TAB label TAB score" for each label, and after a TAB its title where there is a file of them.
  std::string rows_of(std::size_t sample, std::span<const Prediction> best) const {
    std::string text;
    for_each_label(sample, best, [&](std::uint32_t label, double score) {
      std::array<char, kNumberRoom> number;
      const char* const end = write_six_digits(score, number.data());
      const std::string name = names_.known() ? std::string(names_[label]) : std::to_string(label);
      text += fmt::format("{}\t{}\t{}", users_->name(first_ + sample), name,
                          std::string_view(number.data(), static_cast<std::size_t>(end - number.data())));
      if (titles_) text.append("\t").append((*titles_)[label]);
      text += '\n';
    });
    return text;
  }

  // JSON as in answers of `slide serve`.
  std::string json_of(std::size_t sample, std::span<const Prediction> best) const {
    std::string text = "{";
    if (users_ != nullptr) text += "\"user\":" + serve::json_string(users_->name(first_ + sample)) + ',';
    text += "\"predictions\":[";
    if (command_.explain > 0) attribution_.begin(model_.network, part_, sample);
    for_each_label(sample, best, [&](std::uint32_t label, double score) {
      const auto name = names_.known() ? std::optional(names_[label]) : std::nullopt;
      if (text.back() != '[') text += ',';
      serve::append_prediction(text, label, name, score);
      if (command_.explain > 0) serve::append_reasons(text, model_, attribution_.of(label), command_.explain);
      if (titles_)
        text.replace(text.size() - 1, 1, ",\"title\":" + serve::json_string((*titles_)[label]) + '}');
    });
    return text + "]}";
  }

  void keep_answer(std::size_t sample, std::span<const Prediction> best, std::vector<KeptScore>& row) const {
    row.clear();
    for_each_label(sample, best, [&](std::uint32_t label, double score) {
      row.push_back({label, static_cast<float>(score), static_cast<std::uint32_t>(row.size())});
    });
  }

  const Model& model_;
  const LossKind loss_;
  const LabelNames names_;
  std::optional<ItemTitles> titles_;
  mutable Attribution attribution_;  // with --explain
  Dataset part_;                     // that is predicted
  const PredictCommand& command_;
  const std::optional<Thresholds> thresholds_;
  const int threads_;
  const std::size_t labels_;  // of the model
  std::optional<Predictor> predictor_;
  std::unique_ptr<SharedPredictor> shared_;  // with several processes
  Predictor::Scratch scratch_;
  std::vector<Predictor::Scratch> threads_scratch_;
  std::span<const std::uint64_t> bad_;
  const LogUsers* users_ = nullptr;
  std::size_t first_ = 0;  // of the part, within its data
  std::vector<ScoreLine> lines_;
  std::string text_;
  std::vector<std::vector<KeptScore>> rows_;  // of the part
  ScoreTable table_;
  TextOut out_;
};

// Answers the rows, malformed ones by an empty line; without --skip-bad, stops at the first malformed row and
// throws its error.
void answer(const RowPart& part, bool skip_bad, Answers& answers, BadRows& bad) {
  if (part.bad.empty() || skip_bad) {
    answers.print_all(part.rows, part.bad, part.users.get());
    return bad.add(part.bad.size(), part.faults);
  }
  answers.print_all(part.rows.slice(0, part.bad.front()), {});
  throw InputError(part.faults.front());
}

// The options that all processes of one prediction must share, besides model and data, as a text to compare.
std::string options_of(const PredictCommand& command) {
  const ModelUse& use = command.use;
  const auto choice = [](const auto& chosen) { return chosen ? static_cast<int>(*chosen) : -1; };
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {}", command.data == "-", command.k.value_or(0),
                     command.threshold.has_value(), command.threshold.value_or(0), command.scores,
                     command.out.empty(), choice(use.inference), choice(use.format), use.keep_known,
                     command.skip_bad, command.json, use.rare.value_or(-1), command.explain);
}

// The data to predict: the samples of the command; for `slide recommend`, its users, or all users in the log
// of the model.
std::string data_of(const PredictCommand& command, const Model& model) {
  if (!command.of_users) return command.data;
  if (model.config.data.kind != DataKind::kInteractions)
    fail_input("{}: was not trained on interactions, so it knows no users; use slide predict", command.model);
  if (!command.data.empty()) return command.data;
  std::string log = users_log(model);
  if (log.empty())
    fail_input("{}: names no log of its users; name one by --known, or the users by --users FILE",
               command.model);
  return log;
}

void add_notes(const Answers& answers, Warnings& warnings) {
  if (answers.titles() && !answers.titles()->note().empty()) print_notes({answers.titles()->note()});
  if (answers.titles() && !answers.titles()->warning().empty()) warnings.add({answers.titles()->warning()});
  if (!answers.names().warning().empty()) warnings.add({answers.names().warning()});
}

}  // namespace

std::optional<Thresholds> PredictCommand::thresholds(const Model& of) const {
  if (threshold) return Thresholds(*threshold);
  return k || logits() ? std::nullopt : of.thresholds;
}

void run_predict(const PredictCommand& command, Cluster& cluster) {
  require_same_options(cluster, options_of(command));
  const int threads = own_threads(command.use.threads, &cluster);
  const auto pinning = pinned(command.pin, threads, &cluster);
  check_outputs(std::array{OutputFile{"--out", command.out.empty() ? command.text_out : command.out}},
                std::array{command.model, command.data, command.labels, command.titles});
  Model model = open_model(command.model, command.use, &cluster);
  require_same_file(cluster, model);
  print_notes(model.notes);
  const std::string data = data_of(command, model);
  const SampleInput input(model, command.use, data, cluster, command.of_users);
  Answers answers(model, command, cluster, threads, input.comes_in_pieces());
  BadRows bad;
  RowsRead read;
  Warnings warnings(command.strict);
  add_notes(answers, warnings);
  try {
    input.for_each_part([&](const RowPart& part) {
      require_same_rows(cluster, &part.rows);
      warnings.add(part.warnings);
      answer(part, command.skip_bad, answers, bad);
      read.add(part);
    });
    require_same_rows(cluster, nullptr);
  } catch (const Ended& end) {  // standard output is closed
    if (cluster.size() > 1) cluster.abort(end.code);
    throw;
  }
  read.warn_if_empty(data, command.of_users, warnings);
  if (cluster.rank() == 0) answers.finish();
  read.warn_of_unknown(data, model, warnings);
  bad.end();
}

}  // namespace slide::cli
