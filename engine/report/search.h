// History of a configuration search (training/tune.h) and the data of its page. Stateless functions, safe
// from any thread.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/training/tune.h"

namespace slide::report {

struct SearchHistory {
  std::string name;                                                // of the data or the configuration
  std::string file;                                                // destination of the best configuration
  double train_seconds = std::numeric_limits<double>::infinity();  // TuneOptions::train_seconds
  std::vector<Trial> trials;                                       // all, in order
  TuneResult result;
};

// JSON data of the page:
//   {"version":..,"name":..,"file":..,"ks":[1,3,5],
//    "samples":..,"splits":..,"validation_samples":..,"validation_by":"random" (TuneResult),
//    "limit":.. (seconds, or missing),"best":trial number,"leader":the trial of highest score,
//    "decision":{"samples":..,"difference":..,"interval":[..,..]} (TuneResult::gain, or missing),
//    "kept":[{"key":..,"start":..,"value":..}], the settings that the search changed,
//    "keys":[{"key":..,"start":..,
//      "values":[{"value":..,"trials":..,"best":score}], over all scored trials
//      "alone":[{"trial":..,"from":..,"to":..,"change":..}]}], trials that changed only this key, with the
//        change of the score against the trial that they began with; keys by their largest change,
//    "trials":[{"number":..,"stage":"sweep","state":"scored","score":..,"gain":..,"precision":[..],
//      "train_seconds":..,"full_seconds":..,"ended":..,"best":..,"changes":[..]}]}
nlohmann::ordered_json search_data(const SearchHistory& search);

}  // namespace slide::report
