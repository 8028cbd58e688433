// Posts a function to the thread of an io_context from a thread that must not throw: retries while memory is
// exhausted. Thread-safe.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <new>
#include <thread>

namespace slide::serve {

// Copying `function` must not throw.
template <class F>
void post_patiently(boost::asio::io_context& io, const F& function) {
  while (true) {
    try {
      return boost::asio::post(io, F(function));
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

}  // namespace slide::serve
