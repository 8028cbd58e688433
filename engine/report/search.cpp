#include "engine/report/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "engine/training/search_space.h"

namespace slide::report {

namespace {

using Json = nlohmann::ordered_json;
using Settings = std::map<std::string, std::string>;  // changed settings of a trial, by key

const char* stage_text(TrialStage stage) {
  constexpr std::array kTexts = {"start", "sweep", "random", "proposal", "votes"};
  return kTexts[std::size_t(stage)];
}

Settings settings_of(const std::vector<std::string>& changes) {
  Settings settings;
  for (const std::string& change : changes) {
    const std::string_view key = key_of(change);
    settings.emplace(key, change.substr(key.size() + 1));
  }
  return settings;
}

Json trial_data(const Trial& trial) {
  return {{"number", trial.number},
          {"stage", stage_text(trial.stage)},
          {"state", trial.outcome()},
          {"score", trial.score},
          {"gain", trial.gain},
          {"precision", trial.precision},
          {"train_seconds", trial.train_seconds},
          {"full_seconds", trial.full_seconds},
          {"ended", trial.ended},
          {"best", trial.is_best},
          {"changes", trial.changes}};
}

// Effects of the keys that trials changed.
class Keys {
 public:
  explicit Keys(const SearchHistory& search) : search_(search) {
    for (const Trial& trial : search.trials) {
      trials_.emplace(trial.number, &trial);
      for (const auto& [key, value] : settings_of(trial.changes)) keys_.insert(key);
    }
  }

  // Each key with its values and the trials that changed it alone; keys of the largest effect first.
  Json data() const {
    std::vector<std::pair<double, Json>> all;
    for (const std::string& key : keys_) {
      Json alone = Json::array();
      double largest = 0.0;
      for (const Trial& trial : search_.trials) {
        const Json change = changed_alone(trial, key);
        if (change.is_null()) continue;
        largest = std::max(largest, std::abs(change["change"].get<double>()));
        alone.push_back(change);
      }
      all.emplace_back(largest, Json{{"key", key},
                                     {"start", value_of(search_.result.start, key)},
                                     {"values", values_of(key)},
                                     {"alone", alone}});
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    Json data = Json::array();
    for (auto& [largest, key] : all) data.push_back(std::move(key));
    return data;
  }

 private:
  std::string value(const Settings& settings, const std::string& key) const {
    const auto found = settings.find(key);
    return found == settings.end() ? value_of(search_.result.start, key) : found->second;
  }

  // Effect of a trial that changed only this key, relative to its parent trial; null where it does not apply.
  Json changed_alone(const Trial& trial, const std::string& key) const {
    const auto before = trials_.find(trial.from);
    if (!(trial.is_scored() || trial.pruned) || before == trials_.end() || !before->second->is_scored())
      return {};
    const Settings now = settings_of(trial.changes), then = settings_of(before->second->changes);
    for (const std::string& other : keys_) {
      if ((value(now, other) != value(then, other)) != (other == key)) return {};
    }
    return {
        {"trial", trial.number}, {"from", value(then, key)}, {"to", value(now, key)}, {"change", trial.gain}};
  }

  // Values of a key in scored trials, in order of their first trials.
  Json values_of(const std::string& key) const {
    Json values = Json::array();
    for (const Trial& trial : search_.trials) {
      if (!trial.is_scored()) continue;
      const std::string text = value(settings_of(trial.changes), key);
      const auto found =
          std::find_if(values.begin(), values.end(), [&](const Json& v) { return v["value"] == text; });
      Json& place = found != values.end()
                        ? *found
                        : values.emplace_back(Json{{"value", text}, {"trials", 0}, {"best", trial.score}});
      place["trials"] = place["trials"].get<int>() + 1;
      place["best"] = std::max(place["best"].get<double>(), trial.score);
    }
    return values;
  }

  const SearchHistory& search_;
  std::map<std::uint32_t, const Trial*> trials_;
  std::set<std::string> keys_;
};

Json kept_data(const TuneResult& result) {
  Json kept = Json::array();
  for (const auto& [key, value] : settings_of(result.best.changes))
    kept.push_back({{"key", key}, {"start", value_of(result.start, key)}, {"value", value}});
  return kept;
}

}  // namespace

Json search_data(const SearchHistory& search) {
  const TuneResult& result = search.result;
  Json data = {{"version", SLIDE_VERSION},
               {"name", search.name},
               {"file", search.file},
               {"ks", result.start.eval.k},
               {"samples", result.train_samples},
               {"splits", result.folds},
               {"validation_samples", result.validation_samples},
               {"validation_by", result.validation_by},
               {"best", result.best.number},
               {"leader", result.leader},
               {"kept", kept_data(result)},
               {"keys", Keys(search).data()},
               {"trials", Json::array()}};
  if (result.gain) {
    data["decision"] = {{"samples", result.decision_samples},
                        {"difference", result.gain->value},
                        {"interval", {result.gain->interval.low, result.gain->interval.high}}};
  }
  if (std::isfinite(search.train_seconds)) data["limit"] = search.train_seconds;
  for (const Trial& trial : search.trials) data["trials"].push_back(trial_data(trial));
  return data;
}

}  // namespace slide::report
