#include "engine/serve/worker_threads.h"

#include <system_error>

#include "engine/base/error.h"
#include "engine/serve/signals_blocked.h"

namespace slide::serve {

// Starts the threads with signals blocked, since one thread handles these; throws Error where the system
// starts fewer.
WorkerThreads::WorkerThreads(std::size_t count, const char* advice) : open_(queue_.get_executor()) {
  const SignalsBlocked blocked;
  threads_.reserve(count);
  try {
    while (threads_.size() < count) threads_.emplace_back([this] { queue_.run(); });
  } catch (const std::system_error& error) {
    const std::size_t started = threads_.size();
    join();
    fail_run("the system starts {} of {} threads ({}); {}", started, count, error.code().message(), advice);
  }
}

WorkerThreads::~WorkerThreads() {
  join();
}

void WorkerThreads::join() {
  open_.reset();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace slide::serve
