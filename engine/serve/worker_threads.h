// A fixed number of threads that run posted functions. Asio's thread_pool waits for ever where a thread
// cannot be started; this one ends those that were. Internal to the server.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <thread>
#include <vector>

namespace slide::serve {

class WorkerThreads {
 public:
  // Starts `count` threads, which never handle the server's signals. Throws Error where the system refuses
  // one; `advice` completes the message.
  WorkerThreads(std::size_t count, const char* advice);
  // Waits for posted functions to end.
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  // Where functions, which must not throw, are posted; safe from any thread.
  boost::asio::io_context& queue() { return queue_; }

 private:
  void join();

  boost::asio::io_context queue_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> open_;
  std::vector<std::thread> threads_;
};

}  // namespace slide::serve
