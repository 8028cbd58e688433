#include "engine/base/interruption.h"

#include <utility>

namespace slide {

namespace {

constexpr std::chrono::milliseconds kBetweenQuestions(20);

thread_local Interruption* current_interruption = nullptr;

}  // namespace

Interruption::Interruption(std::function<bool()> wanted)
    : wanted_(std::move(wanted)), before_(std::exchange(current_interruption, this)) {}

Interruption::~Interruption() {
  current_interruption = before_;
}

Interruption* Interruption::current() {
  return current_interruption;
}

void Interruption::end() {
  current_interruption = nullptr;
}

bool Interruption::ask() {
  const auto now = std::chrono::steady_clock::now();
  if (!is_wanted() && now - asked_ >= kBetweenQuestions) {
    asked_ = now;
    is_wanted_.store(wanted_(), std::memory_order_relaxed);
  }
  return is_wanted();
}

}  // namespace slide
