#include "datasets/interaction_log.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "datasets/line_chunks.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

// Numbers names in order of first occurrence.
class Numbering {
 public:
  explicit Numbering(std::vector<std::string_view>& names) : names_(names) {}
  std::uint32_t operator()(std::string_view name) {
    const auto [found, added] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    return found->second;
  }

 private:
  std::vector<std::string_view>& names_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

std::vector<std::uint32_t> renumbered(std::span<const std::string_view> names, Numbering& numbering) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(names.size());
  for (const std::string_view name : names) numbers.push_back(numbering(name));
  return numbers;
}

LogShape log_shape_of(std::span<const TextSource> sources, std::optional<TextForm> known) {
  std::vector<std::string_view> parts;
  for (const TextSource& source : sources) parts.push_back(source.text);
  return find_log_shape(parts, known);
}

}  // namespace

InteractionLog::InteractionLog(std::span<const TextSource> sources, const ReadOptions& options,
                               std::optional<TextForm> known, std::size_t chunk_bytes)
    : shape_(log_shape_of(sources, known)) {
  std::vector<Chunk> chunks;
  for (const TextSource& source : sources)
    std::ranges::move(cut(source, chunk_bytes), std::back_inserter(chunks));
  parallel_for(chunks.size(), resolve_threads(options.threads),
               [&](std::size_t i, int) { read_chunk(chunks[i], options.skip_bad); });
  settle_faults(chunks, options.skip_bad);
  gather(chunks);
  if (!users_.empty()) return;
  if (report_.bad_rows > 0) fail_input("{}; no row of the file can be read", report_.first.front());
  fail_input("{}:1:1: the log is empty; write 'user item item ...' for each user", sources.front().origin);
}

// Cuts a part into chunks, without its header line.
std::vector<InteractionLog::Chunk> InteractionLog::cut(const TextSource& source, std::size_t chunk_bytes) {
  const std::size_t head = log_head(source.text);
  const std::string_view names = source.text.substr(0, head);
  std::vector<Chunk> chunks;
  const auto let_go = [&](const char* begin, const char* end) { source.let_go(begin, end); };
  for (const std::string_view text : cut_lines(source.text.substr(head), chunk_bytes, let_go)) {
    chunks.emplace_back().source = &source;
    chunks.back().text = text;
  }
  if (!chunks.empty())
    chunks.front().lines_before = static_cast<std::uint64_t>(std::count(names.begin(), names.end(), '\n'));
  return chunks;
}

void InteractionLog::read_chunk(Chunk& chunk, bool skip_bad) const {
  Numbering user_of(chunk.users), item_of(chunk.items);
  LogLine parts;
  for (std::string_view rest = chunk.text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    ++chunk.lines;
    if (std::string_view fields = line; take_field(fields).empty()) continue;
    try {
      split_log_line(line, shape_.form, shape_.fields, parts);
    } catch (RowFault& fault) {
      ++chunk.bad;
      if (chunk.faults.size() < ReadReport::kShown) chunk.faults.push_back({chunk.lines, std::move(fault)});
      if (!skip_bad) break;
      continue;
    }
    const std::uint32_t user = user_of(parts.user);
    if (parts.of_pair.weight == 0) continue;
    for (const std::string_view item : parts.items) {
      chunk.of_user.push_back(user);
      chunk.entries.push_back({item_of(item), parts.of_pair.weight, parts.of_pair.time});
    }
  }
  chunk.source->let_go(chunk.text.data(), chunk.text.data() + chunk.text.size());
}

// Throws the first error, or reports skipped lines.
void InteractionLog::settle_faults(const std::vector<Chunk>& chunks, bool skip_bad) {
  const TextSource* source = nullptr;
  std::uint64_t lines_before = 0;
  for (const Chunk& chunk : chunks) {
    if (std::exchange(source, chunk.source) != chunk.source) lines_before = chunk.lines_before;
    report_.bad_rows += chunk.bad;
    for (const PlacedFault& fault : chunk.faults) {
      const std::string told = described(source->origin, {lines_before + fault.line, fault.fault});
      if (!skip_bad) throw InputError(told);
      report_.add_shown(told);
    }
    lines_before += chunk.lines;
  }
}

// Groups the entries of all chunks by user.
void InteractionLog::gather(std::vector<Chunk>& chunks) {
  Numbering user_of(users_), item_of(items_);
  std::vector<std::size_t> counts;
  for (Chunk& chunk : chunks) {
    const std::vector<std::uint32_t> users = renumbered(chunk.users, user_of),
                                     items = renumbered(chunk.items, item_of);
    counts.resize(users_.size());
    for (std::size_t i = 0; i < chunk.entries.size(); ++i) {
      chunk.of_user[i] = users[chunk.of_user[i]];
      chunk.entries[i].item = items[chunk.entries[i].item];
      ++counts[chunk.of_user[i]];
    }
  }
  if (items_.size() >= kIdLimit || users_.size() >= kIdLimit)
    throw InputError("a log has more users or items than 32 bits can number");
  offsets_.assign(users_.size() + 1, 0);
  for (std::size_t user = 0; user < counts.size(); ++user) offsets_[user + 1] = offsets_[user] + counts[user];
  entries_.resize(offsets_.back());
  std::vector<std::size_t> at(offsets_.begin(), offsets_.end() - 1);
  for (Chunk& chunk : chunks) {
    for (std::size_t i = 0; i < chunk.entries.size(); ++i)
      entries_[at[chunk.of_user[i]]++] = chunk.entries[i];
    chunk = {};
  }
}

void each_item_once(std::span<const InteractionLog::Entry> entries, std::vector<InteractionLog::Entry>& out) {
  using Entry = InteractionLog::Entry;
  out.assign(entries.begin(), entries.end());
  std::ranges::sort(out, {}, &Entry::item);
  std::size_t used = 0;
  for (const Entry& entry : out) {
    if (used == 0 || out[used - 1].item != entry.item) {
      out[used++] = entry;
      continue;
    }
    out[used - 1].weight = std::max(out[used - 1].weight, entry.weight);
    out[used - 1].time = std::max(out[used - 1].time, entry.time);
  }
  out.resize(used);
}

}  // namespace slide
