// Spellings of enum values in configurations, on the command line and in answers. Pure functions, safe from
// any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "engine/config/settings.h"

namespace slide {

// In the order of the values.
using Spellings = std::span<const std::string_view>;

// Spellings of all values of an enum; the argument's value is ignored.
Spellings spellings_of(DataFormat);
Spellings spellings_of(DataKind);
Spellings spellings_of(LogForm);
Spellings spellings_of(TokenKind);
Spellings spellings_of(Weighting);
Spellings spellings_of(LayerKind);
Spellings spellings_of(Activation);
Spellings spellings_of(LossKind);
Spellings spellings_of(OptimizerKind);
Spellings spellings_of(RateSchedule);
Spellings spellings_of(Inference);
Spellings spellings_of(Precision);
Spellings spellings_of(HashFamily);
Spellings spellings_of(BucketPolicy);
Spellings spellings_of(CandidatePolicy);

template <class E>
std::string_view spelling(E value) {
  return spellings_of(value)[static_cast<std::size_t>(value)];
}

// The value with this spelling, if any.
template <class E>
std::optional<E> from_spelling(std::string_view text) {
  const Spellings all = spellings_of(E{});
  const auto found = std::ranges::find(all, text);
  if (found == all.end()) return std::nullopt;
  return static_cast<E>(found - all.begin());
}

}  // namespace slide
