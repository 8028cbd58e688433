// The data of the page of an evaluation of scores (`slide evaluate --report`). Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "engine/inference/curve.h"

namespace slide::report {

// JSON data of the page:
//   {"version":..,"name":..,"results":{..} (of `slide evaluate --json`),
//    "points":[{"threshold":..,"precision":..,"recall":..,"f1":..}], the curve by falling threshold}
// A curve of many points is thinned to about 500, at equal steps of recall and of scores; the first, the last
// and the one of best F1 stay.
nlohmann::ordered_json evaluation_data(const std::string& name, const nlohmann::ordered_json& results,
                                       std::span<const CurvePoint> curve);

}  // namespace slide::report
