#include "datasets/formats/interactions.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "datasets/formats/asked_names.h"
#include "datasets/formats/interaction_log.h"
#include "datasets/formats/log_values.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/read_report.h"
#include "datasets/rows/row_parser.h"
#include "datasets/rows/unknown_labels.h"
#include "datasets/text/tokenizer.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

using Entry = InteractionLog::Entry;

constexpr std::uint32_t kUnknown = 0xffffffff;  // an item without an id
constexpr std::size_t kTileUsers = 4096;        // users of a task

// Number of users of each item.
std::vector<std::uint32_t> users_of_items(const InteractionLog& log) {
  std::vector<std::uint32_t> counts(log.items().size()), last(log.items().size(), kUnknown);
  for (std::uint32_t user = 0; user < log.users().size(); ++user) {
    for (const Entry& entry : log.entries(user)) {
      counts[entry.item] += last[entry.item] != user ? 1 : 0;
      last[entry.item] = user;
    }
  }
  return counts;
}

// The first eight bytes of a name as a number of the same order; a shorter name is followed by zeros.
std::uint64_t first_bytes(std::string_view name) {
  std::uint64_t bytes = 0;
  for (std::size_t at = 0; at < sizeof bytes; ++at)
    bytes = bytes << 8 | (at < name.size() ? static_cast<unsigned char>(name[at]) : 0);
  return bytes;
}

// The users of a log, sorted by the bytes of their names. Most comparisons read only first_bytes().
std::vector<std::uint32_t> by_name(std::span<const std::string_view> users) {
  struct Key {
    std::uint64_t first;  // first_bytes() of the name
    std::uint32_t user;
  };
  std::vector<Key> keys(users.size());
  for (std::uint32_t user = 0; user < users.size(); ++user) keys[user] = {first_bytes(users[user]), user};
  std::ranges::sort(keys, [&](const Key& a, const Key& b) {
    return a.first != b.first ? a.first < b.first : users[a.user] < users[b.user];
  });
  std::vector<std::uint32_t> order;
  order.reserve(keys.size());
  for (const Key& key : keys) order.push_back(key.user);
  return order;
}

// Returns for each item of the log its id in the model. An item that the model lacks gets a number above all
// ids of the model, or kUnknown where `unknown` is nullptr.
std::vector<std::uint32_t> ids_of(const InteractionLog& log, const TextModel& items, UnknownLabels* unknown) {
  std::vector<std::uint32_t> ids;
  ids.reserve(log.items().size());
  for (const std::string_view name : log.items()) {
    const auto id = items.label_id(name);
    ids.push_back(id ? *id : unknown == nullptr ? kUnknown : items.label_count() + unknown->number(name));
  }
  return ids;
}

// The rows of a log with a model's ids.
class LogRows {
 public:
  LogRows(InteractionLog& log, const TextModel& items, const ReadOptions& options)
      : log_(log),
        ids_(ids_of(log, items, options.unknown_labels)),
        known_ids_(items.label_count()),
        numbers_unknown_(options.unknown_labels != nullptr),
        normalize_(options.normalize),
        in_order_(options.log.in_order),
        hold_out_(options.log.hold_out),
        sizes_(log.users().size()),
        unknown_(numbers_unknown_ ? log.users().size() : 0),
        held_out_(hold_out_.wanted() ? log.users().size() : 0) {
    order_.resize(log.users().size());
    std::iota(order_.begin(), order_.end(), 0U);
    if (options.log.rows_by_name) order_ = by_name(log.users());
  }

  std::size_t tiles() const { return (log_.users().size() + kTileUsers - 1) / kTileUsers; }
  // The users in the order of their rows.
  std::span<const std::uint32_t> order() const { return order_; }

  // Makes the rows of a tile and returns their sizes. Adds to `unknown` the number of items that have neither
  // an id of the model nor a number; adds the times and values of all entries to `times` and `values`.
  CsrCounts make(std::size_t tile, std::uint64_t& unknown, LogTimes& times, LogValues& values) {
    CsrCounts counts;
    const bool timed = log_.layouts().has_times();
    for_each(tile, [&](std::size_t user) {
      for (const Entry& entry : log_.entries(user)) {
        if (timed) times.add(entry.time);
        values.add(entry.weight, entry.time);
      }
      make_row(user, unknown);
      counts += {1, sizes_[user], labels_of(user), 0};
    });
    return counts;
  }

  // Writes the rows of a tile that make() has made.
  void store(std::size_t tile, const CsrCounts& before, const CsrRoom& room) const {
    std::size_t at = 0, label = 0, number = 0;
    for_each(tile, [&](std::size_t user) {
      float* const values = room.feature_values + at;
      for (const Entry& entry : log_.entries(user).first(sizes_[user])) {
        room.feature_ids[at] = room.label_ids[label++] = entry.item;
        room.feature_values[at++] = entry.weight;
      }
      const std::size_t unknown = labels_of(user) - sizes_[user];
      for (const Entry& entry : log_.entries(user).subspan(sizes_[user], unknown))
        room.label_ids[label++] = entry.item;
      if (normalize_) scale_to_unit_length(values, sizes_[user]);
      room.feature_ends[number] = before.features + at;
      room.label_ends[number++] = before.labels + label;
    });
  }

  // The items of a user to hold out, ascending.
  std::vector<std::uint32_t> held_out(std::size_t user) const {
    return hold_out_.wanted() ? held_out_[user] : std::vector<std::uint32_t>();
  }

 private:
  template <class Use>
  void for_each(std::size_t tile, const Use& use) const {
    const std::size_t end = std::min(log_.users().size(), (tile + 1) * kTileUsers);
    for (std::size_t row = tile * kTileUsers; row < end; ++row) use(order_[row]);
  }

  // Both entries are of one user, in the order of the log.
  bool is_newer(const Entry& entry, const Entry& than) const {
    if (in_order_) return &entry > &than;
    if (entry.time != than.time) return entry.time > than.time;
    return log_.items()[entry.item] > log_.items()[than.item];
  }

  bool is_later(const Entry& entry) const { return entry.time >= in_unit_of(*hold_out_.from, entry.time); }

  // The items that the user has from hold_out_.from on, but not before; ascending. The later entries of
  // others lose their weights, which training must not know.
  std::vector<std::uint32_t> later_items(std::span<Entry> entries) const {
    std::vector<std::uint32_t> later, before;
    for (const Entry& entry : entries)
      if (ids_[entry.item] < known_ids_) (is_later(entry) ? later : before).push_back(ids_[entry.item]);
    std::ranges::sort(before);
    const auto is_before = [&](std::uint32_t item) { return std::ranges::binary_search(before, item); };
    for (Entry& entry : entries)
      if (is_later(entry) && is_before(ids_[entry.item])) entry.weight = 0;
    std::erase_if(later, is_before);
    return sorted_unique(std::move(later));
  }

  // The newest distinct items of the user, as many as hold_out_ says; ascending.
  std::vector<std::uint32_t> newest_items(std::span<const Entry> entries) const {
    std::vector<const Entry*> newest_first;
    for (const Entry& entry : entries) {
      if (ids_[entry.item] < known_ids_) newest_first.push_back(&entry);
    }
    std::ranges::sort(newest_first, [&](const Entry* a, const Entry* b) { return is_newer(*a, *b); });
    std::vector<std::uint32_t> newest;
    for (const Entry* entry : newest_first) {
      if (std::ranges::find(newest, ids_[entry->item]) == newest.end()) newest.push_back(ids_[entry->item]);
      if (hold_out_.share == 0 && newest.size() == hold_out_.newest) break;
    }
    if (hold_out_.share > 0)
      newest.resize(static_cast<std::size_t>(hold_out_.share * static_cast<double>(newest.size())));
    return sorted_unique(std::move(newest));
  }

  static std::vector<std::uint32_t> sorted_unique(std::vector<std::uint32_t> items) {
    std::ranges::sort(items);
    items.erase(std::unique(items.begin(), items.end()), items.end());
    return items;
  }

  std::size_t labels_of(std::size_t user) const {
    return sizes_[user] + (numbers_unknown_ ? unknown_[user] : 0);
  }

  // Reorders the entries of a user: first one for each known item, ascending by id; after them, where
  // unknown items have numbers, one for each unknown item. Else adds the number of unknown items to
  // `unknown`.
  void make_row(std::size_t user, std::uint64_t& unknown) {
    const std::span<Entry> entries = log_.mutable_entries(user);
    // First, while the entries are in the order of the log.
    if (hold_out_.wanted()) held_out_[user] = hold_out_.from ? later_items(entries) : newest_items(entries);
    const std::size_t known = move_known_first(entries);
    sizes_[user] = merge_repeated_items(entries.first(known));
    const std::span<Entry> others = entries.subspan(known);
    if (numbers_unknown_) {
      for (Entry& entry : others) entry.item = ids_[entry.item];
      unknown_[user] = merge_repeated_items(others);
      std::ranges::copy(others.first(unknown_[user]), entries.begin() + std::ptrdiff_t(sizes_[user]));
    } else {
      unknown += merge_repeated_items(others);
    }
  }

  // Moves the entries of known items to the front and gives these their ids. Returns their number.
  std::size_t move_known_first(std::span<Entry> entries) const {
    std::size_t known = 0, unknown_from = entries.size();
    while (known < unknown_from) {
      const std::uint32_t id = ids_[entries[known].item];
      if (id >= known_ids_) {
        std::swap(entries[known], entries[--unknown_from]);
      } else {
        entries[known++].item = id;
      }
    }
    return known;
  }

  InteractionLog& log_;
  std::vector<std::uint32_t> ids_;  // by item of the log: ids_of()
  std::uint32_t known_ids_;         // ids of the model are below; numbers of unknown items are not
  bool numbers_unknown_;
  bool normalize_, in_order_;
  HoldOut hold_out_;
  std::vector<std::uint32_t> order_;
  std::vector<std::size_t> sizes_;                    // by user: known items
  std::vector<std::size_t> unknown_;                  // by user: unknown items, where they have numbers
  std::vector<std::vector<std::uint32_t>> held_out_;  // by user, where it is wanted
};

// The layout of this log, for a reader of another part of it.
KnownLog known_of(const InteractionLog& log) {
  const LogLayout& layout = log.layouts().parts.front();
  const std::size_t more = (layout.columns.weight ? 1U : 0U) + (layout.columns.time ? 1U : 0U);
  return {log.form(), 2 + more, layout.separator};
}

// The items to learn, in id order: by decreasing number of users, ties by name, without the items of
// `before`.
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

void add_items(const InteractionLog& log, std::span<const std::uint32_t> order, const std::string& origin,
               TextModelParts& parts) {
  parts.samples += log.users().size();
  for (const std::uint32_t item : order) {
    if (has_control(log.items()[item], true)) {
      fail_input("{}: the item '{}' has a control character in its name; write it without", origin,
                 shown_part(log.items()[item]));
    }
    parts.hashes.push_back(hash_of_token(log.items()[item]));
    parts.weights.push_back(1.0f);
    parts.feature_names.add(log.items()[item]);
    parts.label_names.add(log.items()[item]);
  }
}

}  // namespace

// A vocabulary of the items that enough users have; feature and label ids are equal.
std::shared_ptr<const TextModel> learn_items(std::span<const TextSource> sources, const ReadOptions& options,
                                             const TextOptions& text, std::size_t chunk_bytes) {
  const InteractionLog log(sources, options, std::nullopt, chunk_bytes);
  const std::vector<std::uint32_t> order = items_to_learn(log, text, nullptr);
  if (order.empty())
    fail_input("{}: no item has {} users of a weight above 0; lower text.min_count or check the data",
               sources.front().origin, text.min_count);
  TextModelParts parts;
  parts.form = log.form();
  add_items(log, order, sources.front().origin, parts);
  return std::make_shared<const TextModel>(text, std::move(parts));
}

std::shared_ptr<const TextModel> learn_more_items(std::span<const TextSource> sources,
                                                  const ReadOptions& options, const TextModel& before,
                                                  const TextOptions& text, std::size_t chunk_bytes) {
  const InteractionLog log(sources, options, KnownLog{before.form()}, chunk_bytes);
  TextModelParts parts = before.parts();
  add_items(log, items_to_learn(log, text, &before), sources.front().origin, parts);
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

namespace {

template <class Part>
Part total_of(const std::vector<Part>& parts) {
  Part sum;
  for (const Part& part : parts) sum.add(part);
  return sum;
}

// Passes the users of the rows, and the form and times of the log, to options.users.
void add_users(const InteractionLog& log, const LogRows& rows, const LogTimes& times,
               const ReadOptions& options) {
  for (const std::uint32_t user : rows.order()) options.users->add(log.users()[user], rows.held_out(user));
  options.users->set_log(known_of(log), options.log.in_order || log.layouts().has_times());
  options.users->set_times(times);
  options.users->finish();
}

// Sets options.report: malformed rows, unknown items, and warnings of names, values and times.
void report_log(const InteractionLog& log, std::span<const TextSource> sources, std::uint64_t unknown,
                const LogTimes& times, const LogValues& values, const ReadOptions& options) {
  ReadReport& report = *options.report;
  const auto warn = [&](std::string warning) {
    if (!warning.empty()) report.add_warning(std::move(warning));
  };
  report = log.report();
  if (options.log.like_users != nullptr && log.layouts().parts.front().separator == Separator::kBlanks)
    warn(divided_name_warning(sources, *options.log.like_users));
  report.unknown_features = unknown;
  warn(values.warning(sources.front().origin, log.layouts().has_times()));
  if (!times.mixes_units()) return;
  warn(
      fmt::format("{}: some times are seconds and others thousandths or less, so that the newest cannot be "
                  "told; write all in one unit",
                  sources.front().origin));
}

}  // namespace

CsrSizes parse_interactions(std::span<const TextSource> sources, const TextModel& items,
                            const ReadOptions& options, CsrSink& sink, std::size_t chunk_bytes) {
  const KnownLog known{items.form(), options.log.like_fields, options.log.like_separator};
  std::optional<AskedSources> asked;
  const LogUsers* const users = options.log.like_users;
  if (users != nullptr && known.separator) asked.emplace(sources, *known.separator, *users, items);
  const std::span<const TextSource> read = asked ? asked->sources() : sources;
  InteractionLog log(read, options, known, chunk_bytes);
  LogRows rows(log, items, options);
  const int threads = static_cast<int>(std::min(static_cast<std::size_t>(resolve_threads(options.threads)),
                                                std::max<std::size_t>(rows.tiles(), 1)));
  std::vector<CsrCounts> counts(rows.tiles());
  std::vector<std::uint64_t> unknown(rows.tiles());
  std::vector<LogTimes> times(rows.tiles());
  std::vector<LogValues> values(rows.tiles());
  parallel_for(rows.tiles(), threads, [&](std::size_t tile, int) {
    counts[tile] = rows.make(tile, unknown[tile], times[tile], values[tile]);
  });
  std::vector<CsrCounts> bases(rows.tiles() + 1);
  for (std::size_t tile = 0; tile < rows.tiles(); ++tile) {
    bases[tile + 1] = bases[tile];
    bases[tile + 1] += counts[tile];
  }
  sink.start(bases.back(), threads);
  parallel_for(rows.tiles(), threads, [&](std::size_t tile, int thread) {
    rows.store(tile, bases[tile], sink.open(bases[tile], counts[tile], thread));
    sink.close(thread);
  });
  const LogTimes all_times = total_of(times);
  if (options.users != nullptr) add_users(log, rows, all_times, options);
  if (options.report != nullptr)
    report_log(log, read, std::accumulate(unknown.begin(), unknown.end(), std::uint64_t{0}), all_times,
               total_of(values), options);
  const std::size_t more = options.unknown_labels != nullptr ? options.unknown_labels->size() : 0;
  const auto labels = items.label_count() + static_cast<std::uint32_t>(more);
  return {items.feature_count(), labels, items.feature_count(), labels};
}

}  // namespace slide
