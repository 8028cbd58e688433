#include "engine/cli/inspect_data.h"

#include <algorithm>
#include <string>

#include "engine/base/foreign_text.h"
#include "engine/cli/text.h"

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

}  // namespace slide::cli
