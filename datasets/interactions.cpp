#include "datasets/interactions.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "datasets/file_bytes.h"
#include "datasets/interaction_log.h"
#include "datasets/read_report.h"
#include "datasets/row_parser.h"
#include "datasets/tokenizer.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

using Entry = InteractionLog::Entry;

constexpr std::uint32_t kUnknown = 0xffffffff;  // an item without an id
constexpr std::size_t kRunUsers = 4096;         // users per task

// Number of users of each item.
std::vector<std::uint32_t> users_of_items(const InteractionLog& log) {
  std::vector<std::uint32_t> counts(log.items().size());
  std::vector<Entry> once;
  for (std::size_t user = 0; user < log.users().size(); ++user) {
    each_item_once(log.entries(user), once);
    for (const Entry& entry : once) ++counts[entry.item];
  }
  return counts;
}

// Model id by item of the log.
std::vector<std::uint32_t> ids_of(const InteractionLog& log, const TextModel& items) {
  std::vector<std::uint32_t> ids;
  ids.reserve(log.items().size());
  for (const std::string_view name : log.items()) ids.push_back(items.label_id(name).value_or(kUnknown));
  return ids;
}

// The rows of a log with a model's ids.
class LogRows {
 public:
  LogRows(const InteractionLog& log, const TextModel& items, bool normalize)
      : log_(log), ids_(ids_of(log, items)), normalize_(normalize) {}

  std::size_t runs() const { return (log_.users().size() + kRunUsers - 1) / kRunUsers; }

  // Sizes of the users of a task; adds the number of their unknown items.
  CsrCounts count(std::size_t run, std::uint64_t& unknown) const {
    CsrCounts counts;
    std::vector<Entry> row;
    for_each(run, [&](std::size_t user) {
      make_row(user, row, &unknown);
      counts += {1, row.size(), row.size(), 0};
    });
    return counts;
  }

  void store(std::size_t run, const CsrCounts& before, const CsrRoom& room) const {
    std::vector<Entry> row;
    std::size_t at = 0, number = 0;
    for_each(run, [&](std::size_t user) {
      make_row(user, row, nullptr);
      float* const values = room.feature_values + at;
      for (std::size_t i = 0; i < row.size(); ++i, ++at) {
        room.feature_ids[at] = room.label_ids[at] = row[i].item;
        room.feature_values[at] = row[i].weight;
      }
      if (normalize_) scale_to_unit_length(values, row.size());
      room.feature_ends[number] = before.features + at;
      room.label_ends[number++] = before.labels + at;
    });
  }

  // The newest item of a user among those known to the model.
  std::optional<std::uint32_t> newest(std::size_t user) const {
    const Entry* last = nullptr;
    for (const Entry& entry : log_.entries(user)) {
      if (ids_[entry.item] != kUnknown && (last == nullptr || entry.time >= last->time)) last = &entry;
    }
    return last == nullptr ? std::nullopt : std::optional(ids_[last->item]);
  }

 private:
  template <class Use>
  void for_each(std::size_t run, const Use& use) const {
    const std::size_t end = std::min(log_.users().size(), (run + 1) * kRunUsers);
    for (std::size_t user = run * kRunUsers; user < end; ++user) use(user);
  }

  // The known items of a user, by ascending id.
  void make_row(std::size_t user, std::vector<Entry>& row, std::uint64_t* unknown) const {
    each_item_once(log_.entries(user), row);
    for (Entry& entry : row) entry.item = ids_[entry.item];
    const std::size_t all = row.size();
    std::erase_if(row, [](const Entry& entry) { return entry.item == kUnknown; });
    if (unknown != nullptr) *unknown += all - row.size();
    std::ranges::sort(row, {}, &Entry::item);
  }

  const InteractionLog& log_;
  std::vector<std::uint32_t> ids_;
  bool normalize_;
};

}  // namespace

void LogUsers::add(std::string_view user, std::optional<std::uint32_t> newest) {
  names_.add(user);
  newest_.push_back(newest);
}

void LogUsers::finish() {
  rows_.reserve(names_.size());
  for (std::uint32_t row = 0; row < names_.size(); ++row) rows_.emplace(names_[row], row);
}

std::optional<std::size_t> LogUsers::row_of(std::string_view user) const {
  const auto found = rows_.find(user);
  if (found == rows_.end()) return std::nullopt;
  return found->second;
}

namespace {

// The items to learn, in id order: by decreasing number of users, ties by name, without those of `before`.
std::vector<std::uint32_t> items_to_learn(const InteractionLog& log, const TextOptions& text,
                                          const TextModel* before) {
  const std::vector<std::uint32_t> counts = users_of_items(log);
  std::vector<std::uint32_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0U);
  std::erase_if(order, [&](std::uint32_t item) {
    return counts[item] < std::max(text.min_count, 1U) ||
           (before != nullptr && before->label_id(log.items()[item]));
  });
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : log.items()[a] < log.items()[b];
  });
  const std::size_t known = before == nullptr ? 0 : before->label_count();
  if (text.max_features != 0 && known + order.size() > text.max_features)
    order.resize(text.max_features - std::min<std::size_t>(known, text.max_features));
  return order;
}

void add_items(const InteractionLog& log, std::span<const std::uint32_t> order, TextModelParts& parts) {
  parts.samples += log.users().size();
  for (const std::uint32_t item : order) {
    parts.hashes.push_back(hash_of_token(log.items()[item]));
    parts.weights.push_back(1.0f);
    parts.feature_names.add(log.items()[item]);
    parts.label_names.add(log.items()[item]);
  }
}

}  // namespace

std::shared_ptr<const TextModel> learn_items(std::span<const TextSource> sources, const ReadOptions& options,
                                             const TextOptions& text, std::size_t chunk_bytes) {
  const InteractionLog log(sources, options, std::nullopt, chunk_bytes);
  const std::vector<std::uint32_t> order = items_to_learn(log, text, nullptr);
  if (order.empty()) {
    fail_input("{}: no item occurs with {} users or more; lower text.min_count or check the data",
               sources.front().origin, text.min_count);
  }
  TextModelParts parts;
  parts.form = log.form();
  add_items(log, order, parts);
  return std::make_shared<const TextModel>(text, std::move(parts));
}

std::shared_ptr<const TextModel> learn_more_items(std::span<const TextSource> sources,
                                                  const ReadOptions& options, const TextModel& before,
                                                  const TextOptions& text, std::size_t chunk_bytes) {
  const InteractionLog log(sources, options, before.form(), chunk_bytes);
  TextModelParts parts = before.parts();
  add_items(log, items_to_learn(log, text, &before), parts);
  return std::make_shared<const TextModel>(before.options(), std::move(parts));
}

std::shared_ptr<const TextModel> learn_items_of(std::span<const std::string> files,
                                                const ReadOptions& options, const TextOptions& text,
                                                bool spill, const TextModel* before) {
  std::vector<std::unique_ptr<const FileBytes>> parts;
  std::vector<TextSource> sources;
  for (const std::string& file : files) {
    parts.push_back(std::make_unique<const FileBytes>(file, spill));
    sources.push_back({parts.back()->text(), file, spill ? parts.back().get() : nullptr});
  }
  return before == nullptr ? learn_items(sources, options, text)
                           : learn_more_items(sources, options, *before, text);
}

CsrSizes parse_interactions(std::span<const TextSource> sources, const TextModel& items,
                            const ReadOptions& options, CsrSink& sink, std::size_t chunk_bytes) {
  const InteractionLog log(sources, options, items.form(), chunk_bytes);
  const LogRows rows(log, items, options.normalize);
  const int threads = static_cast<int>(std::min(static_cast<std::size_t>(resolve_threads(options.threads)),
                                                std::max<std::size_t>(rows.runs(), 1)));
  std::vector<CsrCounts> counts(rows.runs());
  std::vector<std::uint64_t> unknown(rows.runs());
  parallel_for(rows.runs(), threads,
               [&](std::size_t run, int) { counts[run] = rows.count(run, unknown[run]); });
  std::vector<CsrCounts> bases(rows.runs() + 1);
  for (std::size_t run = 0; run < rows.runs(); ++run) {
    bases[run + 1] = bases[run];
    bases[run + 1] += counts[run];
  }
  sink.start(bases.back(), threads);
  parallel_for(rows.runs(), threads, [&](std::size_t run, int thread) {
    rows.store(run, bases[run], sink.open(bases[run], counts[run], thread));
    sink.close(thread);
  });
  if (options.users != nullptr) {
    for (std::size_t user = 0; user < log.users().size(); ++user)
      options.users->add(log.users()[user], rows.newest(user));
    options.users->finish();
  }
  if (options.report != nullptr) {
    *options.report = log.report();
    options.report->unknown_features = std::accumulate(unknown.begin(), unknown.end(), std::uint64_t{0});
  }
  return {items.feature_count(), items.label_count(), items.feature_count(), items.label_count()};
}

}  // namespace slide
