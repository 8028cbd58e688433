#include "engine/cli/ranks.h"

#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/summed_file.h"
#include "engine/cli/app.h"
#include "engine/cli/commands.h"
#include "engine/cli/text.h"
#include "engine/run/ranks.h"

namespace slide::cli {

namespace {

// Ends the other processes, too. For an error of all processes, rank 0 prints the reason.
void leave(Cluster& cluster, int code, std::string_view reason) {
  if (cluster.rank() != 0) std::this_thread::sleep_for(std::chrono::seconds(2));
  log_line(fmt::format("{}: {}", cluster.name(), reason));
  cluster.abort(code);
}

}  // namespace

// Runs the command in all processes of an MPI launcher. Only rank 0 prints results; a failure in one process
// ends all.
void run_together(std::string_view command, const std::function<void(Cluster&)>& run) {
  std::unique_ptr<Cluster> cluster = open_cluster();
  if (cluster->size() == 1) return run(*cluster);
  if (cluster->rank() != 0) silence_output();
  try {
    require_same(*cluster, crc_32(0, fmt::format("{} {}", SLIDE_VERSION, command)),
                 "command or version of slide");
    run(*cluster);
  } catch (const Ended&) {
    const bool first = cluster->rank() == 0;
    cluster.reset();  // synchronises with the other processes
    if (first) throw;
  } catch (const InputError& error) {
    leave(*cluster, kExitBadInput, error.what());
  } catch (const std::bad_alloc&) {
    leave(*cluster, kExitFailed, "out of memory; start more processes, or take a smaller network");
  } catch (const std::exception& error) {
    leave(*cluster, kExitFailed, error.what());
  }
}

void require_same_options(Cluster& cluster, std::string_view options) {
  if (cluster.size() > 1) require_same(cluster, crc_32(0, options), "set of options");
}

}  // namespace slide::cli
