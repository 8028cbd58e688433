// Consistency checks of the numbers in a model file, before anything is computed from them: a malicious file
// can have a right checksum. Pure functions; they throw InputError through `in`.
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/byte_io.h"
#include "engine/config/config.h"
#include "engine/model/model.h"
#include "engine/network/network.h"
#include "engine/network/optimizer_state.h"

namespace slide {

// Largest count of samples, steps and generations of hash functions: additions to it stay exact.
inline constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 48;

// Refuses counts that no training gives: no samples, a label with more samples than there are, or a count
// above kMaxCount. O(labels).
void check_counts(const DataShape& shape, std::uint64_t steps, std::span<const LayerHash> hashes,
                  const ByteReader& in);

// Refuses sizes that the file cannot hold, before allocating memory.
void check_sizes(const Config& config, const DataShape& shape, ModelForm form, const ByteReader& in);

// Refuses sums of squares below 0, from which an optimizer would take roots. O(state).
void check_state(const MatrixState& state, OptimizerKind kind, const ByteReader& in);
void check_sums(std::span<const float> sums, const ByteReader& in);

}  // namespace slide
