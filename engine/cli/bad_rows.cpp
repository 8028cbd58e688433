#include "engine/cli/bad_rows.h"

#include "engine/cli/app.h"
#include "engine/cli/commands.h"
#include "engine/cli/text.h"

namespace slide::cli {

void BadRows::add(std::uint64_t count, const std::vector<std::string>& faults) {
  count_ += count;
  for (const std::string& fault : faults) {
    if (printed_ == ReadReport::kShown) return;
    print_notes({"left out: " + fault});
    ++printed_;
  }
}

void BadRows::end() const {
  if (count_ == 0) return;
  print_notes({fmt::format("{} bad {} left out", grouped(count_), count_ == 1 ? "row was" : "rows were")});
  throw Ended{kExitBadRows};
}

}  // namespace slide::cli
