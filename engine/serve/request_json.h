// JSON of requests, parsed so that an object keeps all its (key, value) pairs in order, repeated keys
// included: {"12": 1, "12": 2} gives feature 12 twice, and both values add up, as in a list of pairs.
// Internal to the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slide::serve {

// Object type with the interface that the parser of nlohmann::basic_json requires.
template <class Key, class T, class Compare, class Allocator>
struct KeyList : std::vector<std::pair<const Key, T>, Allocator> {
  using key_type = Key;
  using mapped_type = T;
  using key_compare = Compare;
  using Base = std::vector<std::pair<const Key, T>, Allocator>;
  using Base::Base;

  // Appends a key.
  T& operator[](const Key& key) {
    this->emplace_back(key, T{});
    return this->back().second;
  }
  // Rebuilds the list without one pair: a pair with a const key cannot be assigned to.
  typename Base::iterator erase(typename Base::iterator at) {
    const auto place = at - this->begin();
    KeyList kept;
    for (auto entry = this->begin(); entry != this->end(); ++entry) {
      if (entry != at) kept.emplace_back(entry->first, std::move(entry->second));
    }
    this->swap(kept);
    return this->begin() + place;
  }
};

using RequestJson =
    nlohmann::basic_json<KeyList, std::vector, std::string, bool, std::int64_t, std::uint64_t, double>;

// Parses a body. Throws InputError with a line for the client.
RequestJson parse_request(std::string_view body);
// A whole number from 1 to `limit`, else throws InputError.
std::size_t count_of(const RequestJson& value, const char* key, std::size_t limit);
// Throws InputError for a key that is none of `known`. `near`: the key that was probably meant, or empty.
[[noreturn]] void refuse_unknown_key(std::string_view key, std::string_view near,
                                     std::span<const std::string> known);

}  // namespace slide::serve
