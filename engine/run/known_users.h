// Items of users from an interaction log, to predict for users by name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/formats/interactions.h"
#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"
#include "datasets/rows/read_report.h"
#include "engine/config/config.h"

namespace slide {

// Items by id, each with its weight.
using Items = std::vector<std::pair<std::uint32_t, float>>;
// Appends the items of a row.
void add_items(const SparseRow& row, Items& items);
// Brings items into the order of their ids, each once, by its largest weight. O(n log n).
void join_items(Items& items);

// Immutable once it is made, safe from any thread; not copyable.
class KnownUsers {
 public:
  KnownUsers() = default;  // of no user
  // Reads a log with the items of `options`, weights as they are. Throws InputError.
  KnownUsers(const std::string& path, ReadOptions options);

  std::size_t size() const { return users_.size(); }
  const LogUsers& users() const { return users_; }
  bool has(std::string_view user) const { return users_.row_of(user).has_value(); }
  // Appends the items of the user; nothing for unknown users.
  void add_items_of(std::string_view user, Items& items) const;
  // Number of fields that are read of the log's pairs; 0 without a log.
  std::size_t fields() const { return size() == 0 ? 0 : users_.log().fields; }
  std::optional<Separator> separator() const { return users_.log().separator; }  // between them
  // A warning where the model knows hardly an item of the log, which is probably another file; else "".
  const std::string& warning() const { return warning_; }

 private:
  LogUsers users_;
  Dataset rows_;
  std::string warning_;
};

// Rows of users to predict for. One thread.
class UserRows {
 public:
  explicit UserRows(bool normalize) : normalize_(normalize) {}

  // Appends a row; an item that is there several times counts once, by its largest weight.
  void add(Items& items);
  std::size_t size() const { return rows_.feature_offsets.size() - 1; }
  std::size_t without_items() const { return without_; }
  // All rows, without labels; none are left.
  Dataset take(std::uint32_t features, std::uint32_t labels);

 private:
  bool normalize_;
  std::size_t without_ = 0;
  DatasetArrays rows_;
};

// The log that users of a model are looked up in: data.known, or else data.train.
const std::string& log_of_users(const DataConfig& data);

// The first file of a data path that is not there; nothing where all are.
std::optional<std::string> missing_part(const std::string& path);

// A note, where this file is not there.
std::string users_not_looked_up(const std::string& file);

// A warning, where rows of interactions have no item; none of other data.
std::vector<std::string> rows_without_items(const DataConfig& config, const Dataset& rows);

// A warning of a log of what users have with hardly an item of the model, as of another file; else "".
std::string few_known_items(const std::string& path, const Dataset& rows, const ReadReport& report);

// A warning where `without` of `users` users have no known item. `names`: the names of the first of them; the
// warning lists the names where they are all.
std::string users_without_items(const std::string& origin, std::size_t without, std::size_t users,
                                std::span<const std::string> names = {});

}  // namespace slide
