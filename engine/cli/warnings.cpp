#include "engine/cli/warnings.h"

#include "engine/base/error.h"
#include "engine/cli/text.h"

namespace slide::cli {

void Warnings::add(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    if (strict_) fail_input("{} (an error by --strict)", warning);
    if (printed_.insert(warning).second) print_notes({"warning: " + warning});
  }
}

void report_unknown(const Unknown& unknown, const std::string& path, std::uint64_t rows, FeatureKind kind,
                    Warnings& warnings) {
  const std::string foreign = foreign_warning(unknown, path, rows, kind);
  const std::string line = describe_unknown(unknown, path, rows, kind);
  if (!foreign.empty()) {
    warnings.add({foreign});
  } else if (!line.empty()) {
    print_notes({line});
  }
}

}  // namespace slide::cli
