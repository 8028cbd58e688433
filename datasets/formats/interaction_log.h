// An interaction log, grouped by user. Learning the items and reading the rows both start from it.
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

// Refers to the text of the sources, which must outlive it. Const methods are safe from any thread.
class InteractionLog {
 public:
  struct Entry {
    std::uint32_t item;
    float weight;  // above 0, as read
    double time;
  };

  // `sources`: at least one part of the log, in order; each may begin with a header line. `known`: layout of
  // a part that was read earlier. Parses chunks of about `chunk_bytes` in parallel. Throws InputError with
  // the first malformed line; with options.skip_bad only where no line is valid.
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
  // Entries of a user, to change. Safe for different users at the same time.
  std::span<Entry> mutable_entries(std::size_t user) {
    return std::span(entries_).subspan(offsets_[user], offsets_[user + 1] - offsets_[user]);
  }
  // Malformed lines, and warnings about lines and layout.
  const ReadReport& report() const { return report_; }

 private:
  // Lines that one task parses. Users and items have numbers of the chunk.
  struct Chunk {
    const TextSource* source = nullptr;
    const LogLayout* layout = nullptr;
    std::string_view text;
    std::uint64_t lines = 0;
    std::uint64_t lines_before = 0;   // of the file; set for the first chunk of a source alone
    std::uint64_t malformed = 0;      // lines
    std::vector<PlacedFault> faults;  // first few, with line numbers within the chunk
    std::vector<std::string_view> users, items;
    UnquotedNames unquoted;              // storage of names with quotes
    std::uint64_t weightless = 0;        // lines of weight 0
    std::uint64_t undivided = 0;         // lines of lists without items, but with another separator
    std::uint64_t first_undivided = 0;   // number of the first undivided line in the chunk
    std::vector<std::uint32_t> of_user;  // by entry
    std::vector<Entry> entries;
  };
  // Working memory of a thread, reused for each chunk.
  struct Scratch {
    NameNumbers user_of, item_of;
    std::vector<std::uint32_t> of_user;
    std::vector<Entry> entries;
  };
  static std::vector<Chunk> cut(const TextSource& source, const LogLayout& layout, std::size_t chunk_bytes);
  void parse_chunk(Chunk& chunk, bool skip_bad, Scratch& scratch) const;
  void report_faults(const std::vector<Chunk>& chunks, bool skip_bad);
  void warn_undivided(const std::vector<Chunk>& chunks);
  void warn_weightless(const std::vector<Chunk>& chunks);
  void group_by_user(std::vector<Chunk>& chunks);

  LogLayouts layouts_;
  std::deque<UnquotedNames> unquoted_;  // storage of names with quotes
  std::vector<std::string_view> users_, items_;
  std::vector<std::size_t> offsets_;  // by user
  std::vector<Entry> entries_;
  ReadReport report_;
};

// Merges entries of the same item: moves one entry for each distinct item to the front, ascending by item,
// with the largest weight and time of its entries. Returns the number of distinct items. O(n log n).
std::size_t merge_repeated_items(std::span<InteractionLog::Entry> entries);

}  // namespace slide
