// Fuzz target: a configuration, as a user's file and as a stored one; after a line `--set`, overrides, one
// per line. An accepted configuration round-trips through its text, and trains a step on tiny data if that
// needs little memory.
#include <algorithm>
#include <optional>
#include <vector>

#include "datasets/text_learner.h"
#include "engine/network/block_bounds.h"
#include "engine/training/memory_plan.h"
#include "engine/training/trainer.h"
#include "tests/fuzz/fuzz.h"

namespace slide::fuzz {
namespace {

constexpr std::string_view kSet = "\n--set\n";
constexpr double kMaxMemory = 16e6;

struct Input {
  std::string toml;
  std::vector<std::string> overrides;
};

Input parts_of(std::string_view text) {
  Input input;
  const std::size_t at = std::min(text.find(kSet), text.size());
  input.toml = text.substr(0, at);
  text.remove_prefix(std::min(at + kSet.size(), text.size()));
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    input.overrides.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return input;
}

// A stored configuration may have sampled hidden layers, which parse_config() refuses.
void check_round_trip(const Config& config, bool stored) {
  const std::string text = to_toml(config);
  check(stored || to_toml(parse_config(text, "written")) == text, "a configuration comes back from its text");
  std::vector<std::string> notes;
  check(to_toml(parse_stored_config(text, "stored", notes)) == text && notes.empty(),
        "a configuration comes back from where it was stored");
}

// Divergent runs and networks that do not fit are refused; no other failure is allowed.
void train(Config config, const Dataset& data) {
  config.train.threads = 1;
  const BlockBounds bounds = bounds_of(data, config.train.block_size);
  if (plan_memory(config, data.feature_count(), data.label_count(), bounds, 1).training() > kMaxMemory)
    return;
  Trainer trainer(fresh_job(config, data));
  trainer.step(0, std::min(trainer.labelled(), trainer.batch_samples()));
}

void use(const Config& config, bool stored = false) {
  static const Dataset data = tiny_data();
  check_round_trip(config, stored);
  accepted([&] { train(config, data); });
  accepted([&] { learn_text({"a\tone two three four\nb\tone two\n", "tiny"}, config.text, 1); });
}

}  // namespace
}  // namespace slide::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slide;
  using namespace slide::fuzz;
  const Input input = parts_of(text_of(data, size));
  std::optional<Config> given, stored;
  accepted([&] { given = parse_config(input.toml, "input", input.overrides); });
  if (given) use(*given);
  std::vector<std::string> notes;
  accepted([&] { stored = parse_stored_config(input.toml, "input", notes); });
  for (const std::string& note : notes) check_message(note);
  if (stored && !given) use(*stored, true);
  return 0;
}
