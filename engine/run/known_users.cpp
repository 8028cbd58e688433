#include "engine/run/known_users.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "datasets/reader.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/row_parser.h"
#include "engine/base/foreign_text.h"

namespace slide {

namespace {

constexpr std::uint64_t kFewKnown = 10;  // a tenth of the items or fewer are known: another file is meant

}  // namespace

void add_items(const SparseRow& row, Items& items) {
  for (std::size_t i = 0; i < row.ids.size(); ++i) items.emplace_back(row.ids[i], row.values[i]);
}

void join_items(Items& items) {
  std::ranges::sort(items, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  items.erase(std::unique(items.begin(), items.end(), same),
              items.end());  // Clang 14 knows no std::ranges::unique
}

// Values stay as in the log: rows are scaled once the items of a request are added.
KnownUsers::KnownUsers(const std::string& path, ReadOptions options) {
  options.format = DataFormat::kInteractions;
  options.normalize = false;
  options.log.rows_by_name = true;
  options.users = &users_;
  ReadReport report;
  options.report = &report;
  options.unknown_labels = nullptr;
  rows_ = read_dataset(path, options);
  warning_ = few_known_items(path, rows_, report);
}

void KnownUsers::add_items_of(std::string_view user, Items& items) const {
  if (const auto row = users_.row_of(user)) add_items(rows_.features(*row), items);
}

// Appends a CSR row of the items, scaled to unit length with normalize_; rows have no labels.
void UserRows::add(Items& items) {
  join_items(items);
  without_ += items.empty() ? 1 : 0;
  const std::size_t first = rows_.feature_ids.size();
  for (const auto& [id, weight] : items) {
    rows_.feature_ids.push_back(id);
    rows_.feature_values.push_back(weight);
  }
  if (normalize_) scale_to_unit_length(rows_.feature_values.data() + first, items.size());
  rows_.feature_offsets.push_back(rows_.feature_ids.size());
  rows_.label_offsets.push_back(0);
}

Dataset UserRows::take(std::uint32_t features, std::uint32_t labels) {
  return {std::exchange(rows_, {}), features, labels};
}

const std::string& log_of_users(const DataConfig& data) {
  return data.known.empty() ? data.train : data.known;
}

std::optional<std::string> missing_part(const std::string& path) {
  for (const std::string& part : parts_of(path)) {
    if (!std::filesystem::exists(part)) return part;
  }
  return std::nullopt;
}

std::string users_not_looked_up(const std::string& file) {
  return fmt::format("{} is not there, so users are not looked up; name the log of what they have by --known",
                     file);
}

std::vector<std::string> rows_without_items(const DataConfig& config, const Dataset& rows) {
  std::size_t without = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) without += rows.features(i).ids.empty() ? 1 : 0;
  if (config.kind != DataKind::kInteractions || without == 0) return {};
  return {users_without_items("the samples", without, rows.size())};
}

std::string few_known_items(const std::string& path, const Dataset& rows, const ReadReport& report) {
  const std::uint64_t known = rows.feature_entries(), all = known + report.unknown_features;
  if (kFewKnown * known >= all) return {};
  return fmt::format(
      "{}: {} of {} items of its users are items of the model; check that this is the log of what users have",
      shown_path(path), known, all);
}

std::string users_without_items(const std::string& origin, std::size_t without, std::size_t users,
                                std::span<const std::string> names) {
  if (without == 0) return {};
  std::string named;
  for (const std::string& name : names)
    named += fmt::format("{}'{}'", named.empty() ? " (" : ", ", shown_part(name));
  return fmt::format(
      "{}: {} of {} users have no item that the model knows{}; what most users have is their answer", origin,
      without, users, names.size() == without && without > 0 ? named + ")" : "");
}

}  // namespace slide
