// The lines of a log of interactions, gathered by user: what learning its items and reading its rows share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "datasets/interaction_lines.h"
#include "datasets/read_options.h"
#include "datasets/read_report.h"
#include "datasets/text_source.h"

namespace slide {

// Refers to the text of the sources, which must outlive it. Immutable once made, then safe from any thread.
class InteractionLog {
 public:
  struct Entry {
    std::uint32_t item;
    float weight;  // above 0
    double time;
  };

  // `sources`, one or more, are parts of the log, in order; each may begin with a line that names columns.
  // `known`: the form of another part of it (find_log_shape). Throws InputError with the first fault; with
  // options.skip_bad, where nothing else is left.
  InteractionLog(std::span<const TextSource> sources, const ReadOptions& options,
                 std::optional<TextForm> known, std::size_t chunk_bytes);

  TextForm form() const { return shape_.form; }
  // In the order in which they first occur.
  std::span<const std::string_view> users() const { return users_; }
  std::span<const std::string_view> items() const { return items_; }
  // Of a user, in the order of the file, an item as often as it is there.
  std::span<const Entry> entries(std::size_t user) const {
    return std::span(entries_).subspan(offsets_[user], offsets_[user + 1] - offsets_[user]);
  }
  const ReadReport& report() const { return report_; }

 private:
  // Lines that a thread goes through on its own, with numbers of users and items of its own.
  struct Chunk {
    const TextSource* source = nullptr;
    std::string_view text;
    std::uint64_t lines = 0;
    std::uint64_t lines_before = 0;  // of the first chunk of its source, in the file
    std::uint64_t bad = 0;
    std::vector<PlacedFault> faults;  // of the first few, lines counted in the chunk
    std::vector<std::string_view> users, items;
    std::vector<std::uint32_t> of_user;  // by entry
    std::vector<Entry> entries;
  };
  static std::vector<Chunk> cut(const TextSource& source, std::size_t chunk_bytes);
  void read_chunk(Chunk& chunk, bool skip_bad) const;
  void settle_faults(const std::vector<Chunk>& chunks, bool skip_bad);
  void gather(std::vector<Chunk>& chunks);

  LogShape shape_;
  std::vector<std::string_view> users_, items_;
  std::vector<std::size_t> offsets_;  // by user
  std::vector<Entry> entries_;
  ReadReport report_;
};

// Appends to `out`, which is emptied first, each item once, ascending, by its largest weight and time.
void each_item_once(std::span<const InteractionLog::Entry> entries, std::vector<InteractionLog::Entry>& out);

}  // namespace slide
