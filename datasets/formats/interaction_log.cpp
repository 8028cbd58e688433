#include "datasets/formats/interaction_log.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "datasets/rows/line_chunks.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

// The numbers of `names` in `numbers`, which numbers new names.
std::vector<std::uint32_t> renumbered(std::span<const std::string_view> names, NameNumbers& numbers) {
  std::vector<std::uint32_t> renumbered;
  renumbered.reserve(names.size());
  for (const std::string_view name : names) renumbered.push_back(numbers(name));
  return renumbered;
}

// Whether a name has what separates fields elsewhere.
bool has_separator(std::string_view name) {
  return name.find_first_of(";|,\t") != std::string_view::npos || name.find("::") != std::string_view::npos;
}

}  // namespace

// Finds the layout, parses chunks of all parts in parallel, collects faults and warnings, and sorts the
// entries by user.
InteractionLog::InteractionLog(std::span<const TextSource> sources, const ReadOptions& options,
                               std::optional<KnownLog> known, std::size_t chunk_bytes)
    : layouts_(find_log_layouts(sources, options, known, chunk_bytes)) {
  report_.warnings = layouts_.warnings;
  std::vector<Chunk> chunks;
  for (std::size_t part = 0; part < sources.size(); ++part)
    std::ranges::move(cut(sources[part], layouts_.parts[part], chunk_bytes), std::back_inserter(chunks));
  const int threads = resolve_threads(options.threads);
  std::vector<Scratch> scratch(static_cast<std::size_t>(threads));
  parallel_for(chunks.size(), threads, [&](std::size_t i, int thread) {
    parse_chunk(chunks[i], options.skip_bad, scratch[static_cast<std::size_t>(thread)]);
  });
  scratch = {};
  report_faults(chunks, options.skip_bad);
  if (options.log.like_users == nullptr) warn_undivided(chunks);
  warn_weightless(chunks);
  group_by_user(chunks);
  if (!users_.empty()) return;
  if (report_.bad_rows > 0) fail_input("{}; no row of the file can be read", report_.first.front());
  fail_input("{}:1:1: the log is empty; write 'user item item ...' for each user", sources.front().origin);
}

// Cuts a part into chunks, without its header line.
std::vector<InteractionLog::Chunk> InteractionLog::cut(const TextSource& source, const LogLayout& layout,
                                                       std::size_t chunk_bytes) {
  const std::size_t head = layout.header_bytes;
  const std::string_view names = source.text.substr(0, head);
  std::vector<Chunk> chunks;
  const auto release_pages = [&](const char* begin, const char* end) { source.release_pages(begin, end); };
  for (const std::string_view text : cut_lines(source.text.substr(head), chunk_bytes, release_pages)) {
    chunks.emplace_back().source = &source;
    chunks.back().layout = &layout;
    chunks.back().text = text;
  }
  if (!chunks.empty())
    chunks.front().lines_before = static_cast<std::uint64_t>(std::count(names.begin(), names.end(), '\n'));
  return chunks;
}

// Parses the lines of a chunk. Users and items are numbered within the chunk, which needs no lock;
// group_by_user() renumbers them.
void InteractionLog::parse_chunk(Chunk& chunk, bool skip_bad, Scratch& scratch) const {
  auto& [user_of, item_of, of_user, entries] = scratch;
  user_of.clear(), item_of.clear(), of_user.clear(), entries.clear();
  LogLine parts;
  for (std::string_view rest = chunk.text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    ++chunk.lines;
    if (is_blank_line(line)) continue;
    try {
      split_log_line(line, *chunk.layout, parts);
    } catch (RowFault& fault) {
      ++chunk.malformed;
      if (chunk.faults.size() < ReadReport::kShown) chunk.faults.push_back({chunk.lines, std::move(fault)});
      if (!skip_bad) break;
      continue;
    }
    if (chunk.layout->form == TextForm::kItemLists && parts.items.empty() && has_separator(parts.user)) {
      if (chunk.undivided++ == 0) chunk.first_undivided = chunk.lines;
    }
    const std::uint32_t user = user_of(parts.user);
    if (parts.of_pair.weight == 0) {
      ++chunk.weightless;
      continue;
    }
    for (const std::string_view item : parts.items) {
      of_user.push_back(user);
      entries.push_back({item_of(item), parts.of_pair.weight, parts.of_pair.time});
    }
  }
  chunk.users.assign(user_of.names().begin(), user_of.names().end());
  chunk.items.assign(item_of.names().begin(), item_of.names().end());
  chunk.of_user = of_user;
  chunk.entries = entries;
  chunk.unquoted = std::move(parts.unquoted);
  chunk.source->release_pages(chunk.text.data(), chunk.text.data() + chunk.text.size());
}

// Throws the first fault in order of the file; with `skip_bad` reports all.
void InteractionLog::report_faults(const std::vector<Chunk>& chunks, bool skip_bad) {
  const TextSource* source = nullptr;
  std::uint64_t lines_before = 0;
  for (const Chunk& chunk : chunks) {
    if (std::exchange(source, chunk.source) != chunk.source) lines_before = chunk.lines_before;
    report_.bad_rows += chunk.malformed;
    for (const PlacedFault& fault : chunk.faults) {
      const std::string message = described(source->origin, {lines_before + fault.line, fault.fault});
      if (!skip_bad) throw InputError(message);
      report_.add_shown(message);
    }
    lines_before += chunk.lines;
  }
}

// Warns of lines that are read as a user without items because their fields have another separator: position
// of the first, and number. `chunks`: in order of files and lines.
void InteractionLog::warn_undivided(const std::vector<Chunk>& chunks) {
  const TextSource* source = nullptr;
  std::uint64_t lines_before = 0, undivided = 0;
  std::string first;
  for (const Chunk& chunk : chunks) {
    if (std::exchange(source, chunk.source) != chunk.source) lines_before = chunk.lines_before;
    if (chunk.undivided > 0 && first.empty())
      first = fmt::format("{}:{}", source->origin, lines_before + chunk.first_undivided);
    undivided += chunk.undivided;
    lines_before += chunk.lines;
  }
  if (undivided == 0) return;
  report_.warnings.push_back(
      fmt::format("{}: the whole line is read as a user without items, as {} line{}: its fields have another "
                  "separator than those of other lines; write the same in all",
                  first, undivided, undivided == 1 ? " is" : "s are"));
}

void InteractionLog::warn_weightless(const std::vector<Chunk>& chunks) {
  std::uint64_t weightless = 0, lines = 0;
  for (const Chunk& chunk : chunks) {
    weightless += chunk.weightless;
    lines += chunk.lines;
  }
  if (weightless == 0) return;
  report_.warnings.push_back(
      fmt::format("{}: {} of {} lines have weight 0 and are left out; say data.weight=none if they count",
                  chunks.front().source->origin, weightless, lines));
}

// Groups the entries of all chunks by user, by a counting sort: numbers users and items over all chunks, in
// the order of their first lines, counts the entries of each user, and moves each entry to its place.
void InteractionLog::group_by_user(std::vector<Chunk>& chunks) {
  NameNumbers user_of, item_of;
  std::vector<std::size_t> counts;  // entries by user
  for (Chunk& chunk : chunks) {
    unquoted_.push_back(std::move(chunk.unquoted));
    const std::vector<std::uint32_t> users = renumbered(chunk.users, user_of),
                                     items = renumbered(chunk.items, item_of);
    counts.resize(user_of.names().size());
    for (std::size_t i = 0; i < chunk.entries.size(); ++i) {
      chunk.of_user[i] = users[chunk.of_user[i]];
      chunk.entries[i].item = items[chunk.entries[i].item];
      ++counts[chunk.of_user[i]];
    }
  }
  users_ = std::move(user_of).take_names();
  items_ = std::move(item_of).take_names();
  if (items_.size() >= kIdLimit || users_.size() >= kIdLimit)
    throw InputError("a log has more users or items than 32 bits can number");
  offsets_.assign(1, 0);
  std::inclusive_scan(counts.begin(), counts.end(), std::back_inserter(offsets_));
  entries_.resize(offsets_.back());
  std::vector<std::size_t> next(offsets_.begin(),
                                offsets_.end() - 1);  // place of the next entry of each user
  for (Chunk& chunk : chunks) {
    for (std::size_t i = 0; i < chunk.entries.size(); ++i)
      entries_[next[chunk.of_user[i]]++] = chunk.entries[i];
    chunk = {};
  }
}

std::size_t merge_repeated_items(std::span<InteractionLog::Entry> entries) {
  using Entry = InteractionLog::Entry;
  std::ranges::sort(entries, {}, &Entry::item);
  std::size_t used = 0;
  for (const Entry& entry : entries) {
    if (used == 0 || entries[used - 1].item != entry.item) {
      entries[used++] = entry;
      continue;
    }
    entries[used - 1].weight = std::max(entries[used - 1].weight, entry.weight);
    entries[used - 1].time = std::max(entries[used - 1].time, entry.time);
  }
  return used;
}

}  // namespace slide
