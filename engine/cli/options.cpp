#include "engine/cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "engine/config/spellings.h"
#include "engine/run/ranks.h"

namespace slide::cli {

namespace {

// An option that takes the spelling of a value, named in the order of the alphabet, but for `without`.
template <class Enum>
CLI::Option* add_choice(CLI::App& app, const char* name, const char* meaning, std::string_view without,
                        std::optional<Enum>& value) {
  const Spellings words = spellings_of(Enum{});
  std::vector<std::string> known(words.begin(), words.end());
  std::erase(known, without);
  std::sort(known.begin(), known.end());
  const auto take = [&value](const std::string& word) { value = from_spelling<Enum>(word); };
  return app.add_option_function<std::string>(name, take, meaning)->check(CLI::IsMember(known));
}

}  // namespace

CLI::Validator whole(std::uint64_t low, std::uint64_t high) {
  const auto check = [low, high](std::string& text) -> std::string {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || value < low || value > high) {
      return fmt::format("'{}' is no whole number from {} to {}", text, low, high);
    }
    text = std::to_string(value);
    return {};
  };
  return {check, ""};
}

CLI::Validator finite_number() {
  const auto check = [](std::string& text) -> std::string {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && std::isfinite(value)) return {};
    return fmt::format("'{}' is no number", text);
  };
  return {check, ""};
}

CLI::Option* add_set(CLI::App& app, std::vector<std::string>& set) {
  const auto check = [](const std::string& text) {
    if (text.find('=') != std::string::npos) return std::string();
    return fmt::format("'{}' gives no value; write --set {}=VALUE", text, text);
  };
  return app.add_option("--set", set, "Overrides one key of the configuration; may be repeated")
      ->check(CLI::Validator(check, ""))
      ->type_name("SECTION.KEY=VALUE")
      ->allow_extra_args(false);
}

CLI::Option* add_threads(CLI::App& app, int& threads) {
  return app.add_option("--threads", threads, "Threads, 0 = all cores")
      ->transform(whole(0, kMostThreads))
      ->type_name("N");
}

CLI::Option* add_train_threads(CLI::App& app, std::optional<std::uint32_t>& threads) {
  return app.add_option("--threads", threads, "Threads, 0 = all cores; overrides train.threads")
      ->transform(whole(0, kMostThreads))
      ->type_name("N");
}

void add_pin(CLI::App& app, bool& pin) {
  app.add_flag("--pin", pin, "Bind each thread to a core, one memory node after the other");
}

std::unique_ptr<const Pinning> pinned(bool pin, int threads, Cluster* cluster) {
  if (cluster != nullptr && cluster->size() > 1) require_same(*cluster, pin ? 1 : 0, "--pin");
  if (!pin) return nullptr;
  return std::make_unique<const Pinning>(own_processors(cluster), threads);
}

CLI::Option* add_train_seed(CLI::App& app, std::optional<std::uint64_t>& seed) {
  return app.add_option("--seed", seed, "Overrides train.seed")
      ->transform(whole(0, kMostSeed))
      ->type_name("N");
}

void add_inference(CLI::App& app, std::optional<Inference>& inference) {
  add_choice(app, "--inference", "Score all neurons or only LSH candidates; default: the model's", "",
             inference)
      ->type_name("full|lsh");
}

void add_known(CLI::App& app, std::string& file) {
  app.add_option("--known", file,
                 "Interactions: what the users of DATA have already; default: the model's training file")
      ->type_name("FILE");
}

void add_keep_known(CLI::App& app, bool& keep) {
  app.add_flag("--keep-known", keep, "Interactions: answer what a user has already, too");
}

void add_labels(CLI::App& app, std::string& file) {
  app.add_option("--labels", file, "Names of the labels, one a line, label 0 first; default: the model's")
      ->type_name("FILE");
}

void add_skip_bad(CLI::App& app, bool& skip_bad) {
  app.add_flag("--skip-bad", skip_bad, "Leave out and count rows with faults; exit code 3 if there are any");
}

void add_format(CLI::App& app, const char* name, const char* meaning, std::optional<DataFormat>& format) {
  add_choice(app, name, meaning, "auto", format)->type_name("FORMAT");
}

std::vector<std::string> with_train_keys(std::vector<std::string> overrides,
                                         const std::optional<std::uint32_t>& threads,
                                         const std::optional<std::uint64_t>& seed) {
  if (threads) overrides.push_back(fmt::format("train.threads={}", *threads));
  if (seed) overrides.push_back(fmt::format("train.seed={}", *seed));
  return overrides;
}

}  // namespace slide::cli
