#include "engine/run/require_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "datasets/data_warnings.h"
#include "engine/base/error.h"
#include "engine/base/free_memory.h"
#include "engine/base/pinning.h"
#include "engine/run/ranks.h"

namespace slide {

namespace {

// Plans memory for blocks within `bounds`; in a cluster for the shards of this process.
MemoryPlan plan_within(const Config& config, const Dataset& train, const BlockBounds& bounds, int threads,
                       const Cluster* cluster) {
  const std::size_t features = train.feature_count(), labels = train.label_count();
  // With many more threads than processors, some threads take no task of a phase, and use no working memory.
  const int busy = std::min(threads, 4 * static_cast<int>(allowed_processors().size()));
  const auto of_data = [&](MemoryPlan plan) {
    plan.features = features, plan.feature_entries = train.feature_entries();
    plan.labels = labels, plan.label_entries = train.label_entries();
    return plan;
  };
  if (cluster == nullptr || cluster->size() == 1)
    return of_data(plan_memory(config, features, labels, bounds, threads, busy));
  const std::size_t size = config.layers.back().size;
  const NetworkParts parts =
      parts_for(config, train, size == 0 ? labels : size, static_cast<std::size_t>(cluster->rank()),
                static_cast<std::size_t>(cluster->size()));
  return of_data(plan_memory(config, features, parts, bounds, threads, busy));
}

// Peak before optimizer, tables and workspaces exist, where that is larger.
std::string describe_earlier_peak(const MemoryPlan& plan) {
  if (plan.regression > 0)
    return fmt::format("; before them, the regression of items {:.0f}", plan.regression / 1e6);
  if (plan.search >= plan.training())
    return fmt::format("; before them, the choice of feature crosses {:.0f}", plan.search / 1e6);
  const double made_later = plan.state() + plan.tables() + plan.workspaces();
  if (plan.learning > made_later)
    return fmt::format("; before them, feature weights of the kNN {:.0f}", plan.learning / 1e6);
  if (plan.patterns <= made_later) return "";
  return fmt::format("; before them, patterns of the linear term {:.0f}", plan.patterns / 1e6);
}

// Says that most ids cannot occur, where the data have fewer entries than ids; else "".
std::string describe_id_gaps(const MemoryPlan& plan) {
  std::string text;
  for (const std::string& gaps : {gap_warning("feature", plan.features, plan.feature_entries),
                                  gap_warning("label", plan.labels, plan.label_entries)})
    if (!gaps.empty()) text += "; " + gaps;
  return text;
}

}  // namespace

MemoryPlan plan_run(const Config& config, const TrainingRows& rows, int threads, std::size_t evaluated,
                    const Cluster* cluster) {
  BlockBounds bounds = bounds_of(rows, config.train.block_size, config.layers.back().wide_features);
  bounds.evaluated = evaluated;
  return plan_within(config, rows.crossed, bounds, threads, cluster);
}

// Memory that training needs in any case, from the sizes alone, before the rows are looked at.
MemoryPlan plan_least(const Config& config, const Dataset& train, int threads, const Cluster* cluster) {
  BlockBounds bounds;
  bounds.label_features = 0;
  bounds.evaluated = 0;
  bounds.rows = train.size();
  MemoryPlan plan = plan_within(config, train, bounds, threads, cluster);
  if (config.data.kind != DataKind::kInteractions)
    plan.search = FeatureCrosses::choosing_bytes_of(train, config.data.crosses, threads);
  return plan;
}

void require_memory(const MemoryPlan& plan, Cluster* cluster) {
  std::optional<double> free = free_memory();
  const int processes = cluster == nullptr ? 1 : processes_here(*cluster);
  if (free) *free /= processes;
  if (!free || plan.training() <= *free) return;
  fail_input(
      "training needs {:.0f} MB beside the data (weights {:.0f}, optimizer {:.0f}, hash tables {:.0f}, "
      "neighbours {:.0f}, workspaces {:.0f}{}), and {:.0f} MB are free; set a smaller layer.0.size, "
      "train.weights = bf16, layer.-1.wide = false{}{} or neighbours.share = 0{}",
      plan.training() / 1e6, plan.weights() / 1e6, plan.state() / 1e6, plan.tables() / 1e6,
      plan.neighbours / 1e6, plan.workspaces() / 1e6, describe_earlier_peak(plan), *free / 1e6,
      plan.regression > 0 ? ", layer.-1.wide_ridge = 0" : "", plan.search > 0 ? ", data.crosses = 0" : "",
      describe_id_gaps(plan));
}

}  // namespace slide
