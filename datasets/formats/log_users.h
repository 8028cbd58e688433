// The users of an interaction log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "datasets/formats/log_form.h"
#include "datasets/text/text_model.h"

namespace slide {

// The users of a log's rows. Filled by a reader, then safe from any thread. Not copyable.
class LogUsers {
 public:
  LogUsers() = default;
  LogUsers(const LogUsers&) = delete;
  LogUsers& operator=(const LogUsers&) = delete;

  // Appends a row: its user, and the items to hold out, ascending.
  void add(std::string_view user, std::vector<std::uint32_t> held_out = {});
  // Call after the last add().
  void finish();

  // Whether the newest item of users is known: the log has times, or its lines are in order of time.
  bool knows_newest() const { return knows_newest_; }
  // Layout of the log.
  const KnownLog& log() const { return log_; }
  void set_log(const KnownLog& log, bool knows_newest) { log_ = log, knows_newest_ = knows_newest; }
  // Range of its times; empty() for a log without times.
  const LogTimes& times() const { return times_; }
  void set_times(const LogTimes& times) { times_ = times; }

  std::size_t size() const { return names_.size(); }
  std::string_view name(std::size_t row) const { return names_[row]; }
  // Items by LogOptions::hold_out, ascending, among those that the model knows. Newer is by time and then by
  // position in the log.
  std::span<const std::uint32_t> held_out(std::size_t row) const { return held_out_[row]; }
  std::optional<std::size_t> row_of(std::string_view user) const;

 private:
  NameList names_;
  std::vector<std::vector<std::uint32_t>> held_out_;
  std::unordered_map<std::string_view, std::uint32_t> rows_;
  KnownLog log_;
  LogTimes times_;
  bool knows_newest_ = false;
};

}  // namespace slide
