// Search space of `slide tune`: keys of the configuration, the values it tries for each, and single steps
// from value to value. Immutable, safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/config.h"

namespace slide {

struct SearchKey {
  std::string key;
  std::vector<std::string> values;  // as TOML, in order
  bool down_early = false;          // smaller values are as promising as larger ones
  bool costs_time = false;          // smaller values train sooner
  std::vector<std::string> needs;   // without each of these, "key=value" or "key!=value", it has no effect
};

// Step to the next value of a key.
struct Move {
  std::size_t key = 0;  // in SearchSpace::keys()
  bool up = true;
};

class SearchSpace {
 public:
  // Without the keys that `fixed` (overrides, as of load_config) sets. Throws InputError when none is left.
  SearchSpace(const Config& start, const std::vector<std::string>& fixed);

  const std::vector<SearchKey>& keys() const { return keys_; }

  // Every move of every key, the most promising first; of two equally promising ones the one that trains
  // sooner.
  std::vector<Move> sweep() const;
  // Moves that make training shorter.
  std::vector<Move> savings() const;

  // The override of a move in `config`: the value next to the present one, which, if it is a number, need not
  // be among the values. None at the end of the values, and where the key has no effect.
  std::optional<std::string> step(const Config& config, const Move& move) const;
  // An override of a key that the search may change, by the name of its layer in `config`; else none.
  std::optional<std::string> known(std::string_view change, const Config& config) const;
  // Whether the key of an override has an effect in `config`.
  bool has_effect(const Config& config, std::string_view change) const;

 private:
  std::vector<SearchKey> keys_;
};

// The key of "key=value".
std::string_view key_of(std::string_view change);

// The value of a key as TOML; empty when there is no such key.
std::string value_of(const Config& config, std::string_view key);

// `changes` with `change` in place of one for the same key, sorted, without those that `start` has already.
std::vector<std::string> with_change(std::vector<std::string> changes, const std::string& change,
                                     const Config& start);

}  // namespace slide
