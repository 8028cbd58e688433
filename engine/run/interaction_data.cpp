#include "engine/run/interaction_data.h"

#include <filesystem>
#include <utility>

#include "datasets/data_parts.h"
#include "datasets/detect.h"
#include "datasets/held_out.h"
#include "datasets/interactions.h"
#include "datasets/reader.h"
#include "engine/base/error.h"
#include "engine/features/item_draw.h"

namespace slide {

namespace {

// An interaction log and its users, in row order.
struct Users {
  Dataset rows;
  LogUsers users;
};

void read_users(const std::string& path, ReadOptions options, ReadReport& report, Users& log) {
  options.format = DataFormat::kInteractions;
  options.users = &log.users;
  options.report = &report;
  log.rows = read_dataset(path, options);
}

}  // namespace

bool is_interactions(const DataConfig& config) {
  const bool open = config.kind == DataKind::kAuto && !config.train.empty();
  const bool told = config.kind == DataKind::kInteractions || config.format == DataFormat::kInteractions;
  const bool found = open && config.format == DataFormat::kAuto && config.text.empty() &&
                     detect_file(config.train) == DataFormat::kInteractions;
  if (told || found) return true;
  if (config.known.empty() && !config.test_newest) return false;
  fail_input(
      "{} is for interactions, but {} is not clearly a log of these; if it is, set data.kind=interactions",
      config.known.empty() ? "data.test_newest" : "data.known",
      config.train.empty() ? "data.train" : shown_path(config.train));
}

RunData read_interaction_data(const DataConfig& config, const ReadOptions& options) {
  RunData run;
  run.text = options.text;
  Users train, other;
  read_users(config.train, options, run.train_report, train);
  run.train = train.rows;
  if (config.cache) run.notes.push_back("no cache: logs of interactions are read anew each time");
  if (config.test_newest) {
    NewestApart apart = newest_apart(train.rows, train.users, config.normalize);
    run.train = std::move(apart.rest);
    run.test = std::move(apart.newest);
  }
  ReadReport ignored;
  if (!config.known.empty()) read_users(config.known, options, ignored, other);
  const Users& known = config.known.empty() ? train : other;
  const auto read_asked = [&](const std::string& path, ReadReport& report) {
    Users asked;
    read_users(path, options, report, asked);
    return held_out_samples(asked.rows, asked.users, known.rows, known.users);
  };
  if (!config.test.empty()) run.test = read_asked(config.test, run.test_report);
  if (!config.validation.file.empty())
    run.validation = read_asked(config.validation.file, run.validation_report);
  return run;
}

Dataset half_hidden(const Dataset& users, const Config& config) {
  return drawn_samples({config.data.mask, config.data.normalize, config.train.seed, 0}, users, 1);
}

Dataset read_held_out(const std::string& path, const std::string& known, const ReadOptions& options) {
  for (const std::string& part : parts_of(known)) {
    if (std::filesystem::exists(part)) continue;
    fail_input(
        "{}: there is no such file, which has what users know already; name one by --known, or by data.known",
        part);
  }
  Users asked, before;
  ReadReport report, ignored;
  read_users(path, options, report, asked);
  read_users(known, options, ignored, before);
  if (options.report != nullptr) *options.report = std::move(report);
  return held_out_samples(asked.rows, asked.users, before.rows, before.users);
}

}  // namespace slide
