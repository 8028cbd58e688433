// Logs of interactions, read into a row for each user: the items that it had are features and labels alike,
// under the same numbers. What a sample shows of them and what it asks for is chosen later.
//
// A user may be on several lines, in any order; rows stand in the order in which users first occur, or with
// options.log.rows_by_name in that of their names: then the order of lines changes nothing. An item that a
// user names twice counts once, by its largest weight; one of weight 0 is left out. Weights are the values of
// features. Lines end in LF or CR LF; blank ones are skipped; a first line may name columns (log_layout.h).
// Runs in parallel over chunks of whole lines, and neither result nor error depends on the number of threads
// or chunks. Functions are safe to call from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "datasets/csr_sink.h"
#include "datasets/dataset.h"
#include "datasets/log_form.h"
#include "datasets/read_options.h"
#include "datasets/text_model.h"
#include "datasets/text_options.h"
#include "datasets/text_source.h"

namespace slide {

// Whose rows those of a log are. Filled by a reader, then safe from any thread. Not copyable.
class LogUsers {
 public:
  LogUsers() = default;
  LogUsers(const LogUsers&) = delete;
  LogUsers& operator=(const LogUsers&) = delete;

  // The next row: its user, and the item that it had last, by time; of equal times the last by name, or with
  // options.log.in_order the last in the log.
  void add(std::string_view user, std::optional<std::uint32_t> newest);
  // Once all are added.
  void finish();

  // Whether the log says when users had items, or that its order does.
  bool knows_newest() const { return knows_newest_; }
  // How its lines hold items.
  const KnownLog& log() const { return log_; }
  void set_log(const KnownLog& log, bool knows_newest) { log_ = log, knows_newest_ = knows_newest; }

  std::size_t size() const { return names_.size(); }
  std::string_view name(std::size_t row) const { return names_[row]; }
  std::optional<std::uint32_t> newest(std::size_t row) const { return newest_[row]; }
  std::optional<std::size_t> row_of(std::string_view user) const;

 private:
  NameList names_;
  std::vector<std::optional<std::uint32_t>> newest_;
  std::unordered_map<std::string_view, std::uint32_t> rows_;
  KnownLog log_;
  bool knows_newest_ = false;
};

// The items of a log as a model knows them: features and labels of the same names and numbers, by falling
// number of users, ties by name, of those that text.min_count users or more had, text.max_features at most.
// Throws InputError with the first fault of the log, and where no item is frequent enough. With
// options.skip_bad, lines with faults teach nothing.
// `sources`: the parts of the log, in order; a user may be in several.
std::shared_ptr<const TextModel> learn_items(std::span<const TextSource> sources, const ReadOptions& options,
                                             const TextOptions& text,
                                             std::size_t chunk_bytes = kDefaultChunkBytes);
inline std::shared_ptr<const TextModel> learn_items(const TextSource& source, const ReadOptions& options,
                                                    const TextOptions& text,
                                                    std::size_t chunk_bytes = kDefaultChunkBytes) {
  return learn_items(std::span(&source, 1), options, text, chunk_bytes);
}
// The items of `before` and, behind them in that order, those that more of its log adds: of as many users in
// this log, text.max_features in all at most. That may be none.
std::shared_ptr<const TextModel> learn_more_items(std::span<const TextSource> sources,
                                                  const ReadOptions& options, const TextModel& before,
                                                  const TextOptions& text,
                                                  std::size_t chunk_bytes = kDefaultChunkBytes);

// Of a log in these files, its parts: learn_items(), or with `before` learn_more_items(). With `spill`, what
// is packed is unpacked to an unnamed file beside it.
std::shared_ptr<const TextModel> learn_items_of(std::span<const std::string> files,
                                                const ReadOptions& options, const TextOptions& text,
                                                bool spill, const TextModel* before = nullptr);

// Puts the users of a log of these parts into `sink`, with the ids of `items`. Items that it does not know
// are left out; a user may stay without any. options.users becomes whose rows they are; Throws
// InputError.
CsrSizes parse_interactions(std::span<const TextSource> sources, const TextModel& items,
                            const ReadOptions& options, CsrSink& sink,
                            std::size_t chunk_bytes = kDefaultChunkBytes);
inline CsrSizes parse_interactions(const TextSource& source, const TextModel& items,
                                   const ReadOptions& options, CsrSink& sink,
                                   std::size_t chunk_bytes = kDefaultChunkBytes) {
  return parse_interactions(std::span(&source, 1), items, options, sink, chunk_bytes);
}

}  // namespace slide
