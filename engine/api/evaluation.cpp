// Metrics of a model on labelled samples.
#include <slide/measures.h>
#include <slide/model.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/api/arguments.h"
#include "engine/api/internals.h"
#include "engine/inference/inference.h"
#include "engine/inference/label_counts.h"
#include "engine/inference/probability.h"
#include "engine/inference/ranking.h"
#include "engine/inference/reliability.h"
#include "engine/run/model_use.h"

namespace slide::api {

namespace {

// Models of interactions never predict items that a sample has as features. Throws InputError where the
// labels of all samples are such items: nothing could be measured.
void check_labels_apart(const slide::Model& model, const Dataset& rows) {
  if (model.config.data.kind != DataKind::kInteractions) return;
  bool labelled = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto labels = rows.labels(i);
    const auto end = std::lower_bound(labels.begin(), labels.end(), std::uint32_t(model.network.labels()));
    labelled = labelled || end != labels.begin();
    const auto items = rows.features(i).ids;
    if (!std::includes(items.begin(), items.end(), labels.begin(), end)) return;
  }
  if (!labelled) return;
  fail_input(
      "all labels are items that the samples have, which predictions leave out; read the log to measure by "
      "with KnownUsers::held_out(), in Python with slide.read(..., known=...)");
}

// The best labels of each sample, and their probabilities, options().k a sample.
struct Scored {
  Ranking ranking;
  std::vector<float> scores;
};

// Predicts the top k of each sample; probabilities are [samples x k], in the order of the ranking.
Scored scored(const slide::Predictor& predictor, const Dataset& rows, LossKind loss) {
  const std::size_t k = predictor.options().k;
  Scored found{Ranking(rows.size(), k), std::vector<float>(rows.size() * k)};
  predictor.predict(rows, [&](std::size_t sample, std::span<const Prediction> best) {
    float* to = found.scores.data() + sample * k;
    for (const Prediction& one : best) {
      found.ranking.add(sample, one.label);
      *to++ = static_cast<float>(probability_of(loss, one.score));
    }
  });
  return found;
}

// Adds every prediction with whether it is true, and the first one of each sample; nullopt where a score is
// no probability.
std::optional<Reliability> reliability_of(const Scored& found, const Dataset& truth) {
  slide::Reliability all, top;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const float* score = found.scores.data() + i * found.ranking.limit();
    bool first = true;
    for (const std::uint32_t label : found.ranking[i]) {
      const bool hit = std::ranges::binary_search(truth.labels(i), label);
      if (!all.add(*score, hit)) return std::nullopt;
      if (first) top.add(*score, hit);
      first = false;
      ++score;
    }
  }
  return summary_of(all, top);
}

std::size_t labels_of(const slide::Model& model, const Dataset& rows) {
  return std::max<std::size_t>(model.network.labels(), rows.label_count());
}

void add_coverage(const slide::Model& model, const LabelCounts& counts, Measures& measures) {
  Popularity popularity;
  if (model.config.data.kind == DataKind::kInteractions)
    popularity = {model.shape.label_frequencies, model.shape.samples};
  for_each_coverage(counts, popularity,
                    [&](const std::string& name, double value) { measures[name] = value; });
}

}  // namespace

// Without `reliability`, metrics need one pass over the samples and no probabilities.
Measures evaluate(const Model& model, const Data& data, const std::vector<std::uint32_t>& ks, int threads,
                  std::optional<Reliability>* reliability) {
  return guarded([&] {
    const Model::Impl& impl = *Internals::of(model);
    const EvalConfig& config = impl.model.config.eval;
    const std::vector<std::uint32_t>& ranks = ks.empty() ? config.k : ks;
    check_ks(ranks, impl.model.trained().network.labels());
    InferenceOptions options;
    options.mode = config.inference;
    options.candidates = config.candidates;
    options.threads = threads;
    options.k = *std::max_element(ranks.begin(), ranks.end());
    if (options.mode == slide::Inference::kLsh) impl.build_asked_tables(threads);
    options.shared = &impl.scorers;
    options.rare = rare_ranking(impl.model);
    const Dataset rows = scaled_rows(Internals::of(data), impl.model.config.data);
    check_labels_apart(impl.model, rows);
    const LossKind loss = impl.model.config.loss.kind;
    const slide::Predictor predictor(impl.model.trained(), options);
    if (reliability == nullptr)
      return measures_of(slide::evaluate(predictor, rows, ranks, propensities(impl.model)));
    const Scored found = scored(predictor, rows, loss);
    if (is_normalised(loss)) {
      // Probabilities of a normalised loss need all logits, which metrics do not: another pass.
      options.log_softmax = true;
      *reliability =
          reliability_of(scored(slide::Predictor(impl.model.trained(), options), rows, loss), rows);
    } else {
      *reliability = reliability_of(found, rows);
    }
    Metrics none(ranks, propensities(impl.model));
    if (predictor.of_items()) none.include_first_hits();
    Measures measures = measures_of(measured(found.ranking, rows, std::move(none)));
    add_coverage(impl.model, LabelCounts(found.ranking, rows, ranks, labels_of(impl.model, rows)), measures);
    return measures;
  });
}

}  // namespace slide::api
