#include "engine/cli/inspect_data.h"

#include <algorithm>
#include <string>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/cli/inspect_json.h"
#include "engine/cli/text.h"
#include "engine/cli/warnings.h"
#include "engine/run/run_data.h"

namespace slide::cli {

void print_data_look(const DataLook& look) {
  const double samples = std::max<double>(1.0, double(look.samples));
  if (!look.form.empty()) print("form               {}\n", look.form);
  if (!look.columns.empty()) print("columns            {}\n", look.columns);
  print("labels             {} have samples, {:.1f} a sample; {} occur once{}\n", grouped(look.labels),
        double(look.label_entries) / samples, grouped(look.labels_once),
        look.unlabelled > 0 ? fmt::format("; {} samples have none", grouped(look.unlabelled)) : "");
  std::string frequent;
  for (const auto& [name, count] : look.frequent)
    frequent += fmt::format("{}{} ({})", frequent.empty() ? "" : ", ", shown_part(name), grouped(count));
  print("most frequent      {}\n", frequent);
  print("features           {:.1f} a sample{}{}\n", double(look.feature_entries) / samples,
        look.dense > 0 ? fmt::format(", and {} dense columns", grouped(look.dense)) : "",
        look.featureless > 0 ? fmt::format("; {} samples have none", grouped(look.featureless)) : "");
  if (look.groups > 0) print("groups             {}\n", grouped(look.groups));
  if (!look.first_time.empty()) print("times              {} to {}\n", look.first_time, look.last_time);
  if (look.times > 0) print("times              {} different ones\n", grouped(look.times));
  print("looks wrong        {}\n",
        look.warnings.empty()
            ? "nothing"
            : fmt::format("{} of what was looked at: see the warnings", look.warnings.size()));
}

void list_labels(Config config, const LabelList& wanted) {
  if (config.data.train.empty())
    fail_input(
        "inspect --labels lists those of a model or of data; name one, or give a number of labels after it");
  config.data.test.clear();
  const DataLook look = look_at(config, read_run_data(config, wanted.threads), SIZE_MAX);
  Warnings(wanted.strict).add(look.warnings);
  if (wanted.json) return print_text(text_of(json_of_label_list(look)));
  for (const auto& [name, samples] : look.frequent) print("{}\t{}\n", samples, name);
}

}  // namespace slide::cli
