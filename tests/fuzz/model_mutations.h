// Mutations of a model file that know its fields. Pure functions of file, seed and number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/model_layout.h"

namespace slide::fuzz {

struct Mutated {
  std::string file;  // length and checksum mended
  std::string what;
};

class ModelMutations {
 public:
  // Throws Error where the file does not follow the page of the format.
  explicit ModelMutations(std::string file);

  // Mutation `number`. Every second one is the next of the planned ones, in an order of the seed, until all
  // are done: each field with each boundary value, each key with each value, each section left out, doubled,
  // exchanged with the next. All others are random: several of these at once, or random bytes.
  Mutated mutate(std::uint64_t seed, std::uint64_t number) const;
  std::size_t planned() const { return plan_.size(); }
  const std::string& file() const { return file_; }
  const Layout& layout() const { return layout_; }

 private:
  enum class What { kElement, kArray, kCount, kKey, kSection, kBytes };
  struct Step {
    What what;
    std::size_t index, operation;  // of the field, key or section
  };
  struct Key {
    std::size_t at, bytes;  // of its line
    std::string name;
  };
  struct Work;

  void plan_fields();
  void find_keys();
  Step random_step(std::uint64_t& random) const;
  void apply(const Step& step, std::uint64_t random, Work& work) const;
  void change_element(const Field& field, std::size_t operation, std::uint64_t random, Work& work) const;
  void change_array(const Field& field, std::size_t operation, Work& work) const;
  void change_count(std::size_t index, std::size_t operation, Work& work) const;
  void change_key(const Key& key, std::size_t operation, std::uint64_t random, Work& work) const;
  void change_section(std::size_t index, std::size_t operation, std::uint64_t random, Work& work) const;
  void change_bytes(const Section& section, std::uint64_t random, Work& work) const;

  std::string file_;
  Layout layout_;
  std::vector<Key> keys_;
  std::vector<Step> plan_;
};

}  // namespace slide::fuzz
