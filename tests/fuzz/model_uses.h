// What the program and the library do with a model file: each use accepts it or refuses it with one line. A
// use that does neither ends the process. One thread.
#pragma once

#include <string>
#include <vector>

namespace slide::fuzz {

inline constexpr int kNotRedirected = 2;  // instead of a memory file: standard error itself

struct ModelCase {
  std::string model;              // file
  std::string samples;            // labelled samples of its kind, to test and to continue training on
  std::string folder;             // for what is written
  std::string label;              // one of the unchanged model's, by name or id
  bool items = false;             // a model of interactions
  int messages = kNotRedirected;  // memory file that stands for standard error
};

struct ModelUse {
  std::string name;
  // Returns whether the model is accepted; with `message` otherwise.
  bool (*run)(const ModelCase& the_case, std::string& message);
};

// The library, the server, each command that takes a model. The first is loading.
const std::vector<ModelUse>& model_uses();

// Runs `slide WORDS...` in this process and returns the exit code; what it printed on standard error is in
// `messages`.
int run_command(const std::vector<std::string>& words, int messages_file, std::string& messages);

}  // namespace slide::fuzz
