#include "engine/base/error.h"
#include "engine/cli/commands.h"

namespace slide::cli {

void run_inspect(const InspectCommand& command) {
  fail_run("inspect {}: not built yet", command.subject);
}

}  // namespace slide::cli
