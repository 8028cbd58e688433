#include <slide/interruption.h>

#include <exception>

#include "engine/base/interruption.h"

namespace slide::api {

bool interruptible(const std::function<void()>& work, const std::function<bool()>& wanted) {
  std::exception_ptr failure;  // of `wanted`, which parallel work may call
  const auto ask = [&] {
    try {
      return wanted();
    } catch (...) {
      failure = std::current_exception();
      return true;
    }
  };
  const Interruption interruption(ask);
  try {
    work();
    return true;
  } catch (const Interrupted&) {
    if (failure) std::rethrow_exception(failure);
    return false;
  }
}

}  // namespace slide::api
