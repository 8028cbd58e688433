// Summary of a training set for a first look. Safe to call from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/config/config.h"
#include "engine/run/run_sets.h"

namespace slide {

struct DataLook {
  static constexpr std::size_t kFrequent = 5;

  std::string form;  // of the first file: "XMC text", "labels<TAB>text", ...
  // Table: names of columns with commas between them. Log with unread columns: describe_columns(). Else
  // empty.
  std::string columns;
  std::size_t samples = 0;
  std::size_t unlabelled = 0;                                   // samples
  std::size_t labels = 0;                                       // that some sample has
  std::size_t labels_once = 0;                                  // of these, labels of a single sample
  std::size_t label_entries = 0;                                // of all samples
  std::vector<std::pair<std::string, std::uint32_t>> frequent;  // names, or numbers, and samples; falling
  std::size_t features = 0;
  std::size_t feature_entries = 0;    // of all samples, not the dense ones
  std::size_t dense = 0;              // columns
  std::string dense_column;           // of a table, that holds these; or empty
  std::size_t featureless = 0;        // samples
  std::size_t groups = 0, times = 0;  // distinct ones; 0: the samples have none
  std::string first_time, last_time;  // of interactions, as dates or numbers; empty: they have none
  std::vector<std::string> warnings;
};

// `data`: what read_run_data() gives for `config`. `frequent`: how many of the most frequent labels are
// named.
DataLook look_at(const Config& config, const RunData& data, std::size_t frequent = DataLook::kFrequent);

// Name of a form of text for users, as "labels<TAB>text".
const char* form_shown(TextForm form);

}  // namespace slide
