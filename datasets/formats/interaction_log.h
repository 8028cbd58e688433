// An interaction log grouped by user; shared by learning the items and reading the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "datasets/formats/interaction_lines.h"
#include "datasets/rows/name_numbers.h"
#include "datasets/rows/read_options.h"
#include "datasets/rows/read_report.h"
#include "datasets/rows/text_source.h"

namespace slide {

// Refers to the text of the sources, which must outlive it. Immutable, safe from any thread.
class InteractionLog {
 public:
  struct Entry {
    std::uint32_t item;
    float weight;  // above 0
    double time;
  };

  // `sources`: at least one part of the log, in order; each may begin with a header line. `known`: form of
  // another part (find_log_shape). Throws InputError with the first malformed line; with options.skip_bad
  // only where no valid line is left.
  InteractionLog(std::span<const TextSource> sources, const ReadOptions& options,
                 std::optional<KnownLog> known, std::size_t chunk_bytes);

  TextForm form() const { return layouts_.form(); }
  const LogLayouts& layouts() const { return layouts_; }
  // In order of first occurrence.
  std::span<const std::string_view> users() const { return users_; }
  std::span<const std::string_view> items() const { return items_; }
  // Entries of a user, in file order, repeated items included.
  std::span<const Entry> entries(std::size_t user) const {
    return std::span(entries_).subspan(offsets_[user], offsets_[user + 1] - offsets_[user]);
  }
  // The same, to reorder them; safe for different users at the same time.
  std::span<Entry> entries_to_order(std::size_t user) {
    return std::span(entries_).subspan(offsets_[user], offsets_[user + 1] - offsets_[user]);
  }
  // Malformed lines and warnings, those of the layout included.
  const ReadReport& report() const { return report_; }

 private:
  // Lines processed by one task, with local numbers of users and items.
  struct Chunk {
    const TextSource* source = nullptr;
    const LogLayout* layout = nullptr;
    std::string_view text;
    std::uint64_t lines = 0;
    std::uint64_t lines_before = 0;  // lines of the file before it; set for the first chunk of a source
    std::uint64_t bad = 0;
    std::vector<PlacedFault> faults;  // first few, with line numbers within the chunk
    std::vector<std::string_view> users, items;
    UnquotedNames unquoted;              // storage of names with quotes
    std::uint64_t weightless = 0;        // lines of weight 0
    std::vector<std::uint32_t> of_user;  // by entry
    std::vector<Entry> entries;
  };
  // What a thread fills for one chunk after the other.
  struct Scratch {
    NameNumbers user_of, item_of;
    std::vector<std::uint32_t> of_user;
    std::vector<Entry> entries;
  };
  static std::vector<Chunk> cut(const TextSource& source, const LogLayout& layout, std::size_t chunk_bytes);
  void read_chunk(Chunk& chunk, bool skip_bad, Scratch& scratch) const;
  void settle_faults(const std::vector<Chunk>& chunks, bool skip_bad);
  void gather(std::vector<Chunk>& chunks);

  LogLayouts layouts_;
  std::deque<UnquotedNames> unquoted_;  // storage of names with quotes
  std::vector<std::string_view> users_, items_;
  std::vector<std::size_t> offsets_;  // by user
  std::vector<Entry> entries_;
  ReadReport report_;
};

// Moves each distinct item once, ascending by item, with its largest weight and time, to the beginning.
// Returns their number.
std::size_t each_item_once(std::span<InteractionLog::Entry> entries);

}  // namespace slide
