#include "engine/cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "engine/base/number_text.h"
#include "engine/config/spellings.h"
#include "engine/inference/thresholds.h"
#include "engine/run/ranks.h"

namespace slide::cli {

namespace {

// Adds an option with the spellings of an enum, in alphabetical order, except `without`.
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

std::optional<double> finite_number_of(std::string_view text) {
  const auto value = number_of<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace

CLI::Validator whole(std::uint64_t low, std::uint64_t high) {
  const auto check = [low, high](std::string& text) -> std::string {
    const auto value = number_of<std::uint64_t>(text);
    if (!value || *value < low || *value > high) {
      return fmt::format("'{}' is no whole number from {} to {}", text, low, high);
    }
    text = std::to_string(*value);
    return {};
  };
  return {check, ""};
}

CLI::Validator finite_number() {
  const auto check = [](const std::string& text) {
    return finite_number_of(text) ? std::string() : fmt::format("'{}' is no number", text);
  };
  return {check, ""};
}

CLI::Validator threshold_score() {
  const auto check = [](const std::string& text) -> std::string {
    if (finite_number_of(text)) return "";
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(text, ignored)) return fmt::format("'{}' is no number", text);
    return fmt::format(
        "'{0}' is a file; store its thresholds in a model by slide convert MODEL OUT --threshold {0}", text);
  };
  return {check, ""};
}

CLI::Validator threshold_probability() {
  const CLI::Validator is_score = threshold_score();
  const auto check = [=](const std::string& text) {
    const std::string fault = is_score(text);
    return fault.empty() ? probability_fault(*finite_number_of(text)) : fault;
  };
  return {check, ""};
}

CLI::Validator number(double low, double high) {
  const std::string range = fmt::format("[{:.6g} - {:.6g}]", low, high);
  const auto check = [=](const std::string& text) {
    const std::optional<double> value = finite_number_of(text);
    if (!value && text.find(',') != std::string::npos)
      return fmt::format("'{}' is no number; write it with a point, as 0.3", text);
    return value && *value >= low && *value <= high ? std::string()
                                                    : fmt::format("Value {} not in range {}", text, range);
  };
  return {check, "FLOAT in " + range};
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// An option that takes comma-separated values and may be repeated; `each` checks every value.
CLI::Option* add_list(CLI::App& app, const char* name, const std::string& meaning, const CLI::Validator& each,
                      const std::function<void(const std::vector<std::string>&)>& take) {
  const auto take_lists = [=](const std::vector<std::string>& lists) {
    std::vector<std::string> values;
    for (const std::string& list : lists) {
      for (std::string& value : split_list(list)) {
        if (const std::string fault = each(value); !fault.empty()) throw CLI::ValidationError(name, fault);
        values.push_back(std::move(value));
      }
    }
    take(values);
  };
  return app.add_option_function<std::vector<std::string>>(name, take_lists, meaning)
      ->allow_extra_args(false);
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
      ->transform(whole(0, kMaxThreads))
      ->type_name("N");
}

CLI::Option* add_train_threads(CLI::App& app, std::optional<std::uint32_t>& threads) {
  return app.add_option("--threads", threads, "Threads, 0 = all cores; overrides train.threads")
      ->transform(whole(0, kMaxThreads))
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
      ->transform(whole(0, kMaxSeed))
      ->type_name("N");
}

void add_inference(CLI::App& app, std::optional<Inference>& inference) {
  add_choice(
      app, "--inference",
      "Score all neurons, or only LSH candidates; auto: candidates where they are as good; default: the "
      "model's",
      "", inference)
      ->type_name("auto|full|lsh");
}

void add_rare(CLI::App& app, std::optional<double>& rare) {
  app.add_option(
         "--rare", rare,
         "Favour rare labels: rank by probability divided by the label's propensity to this power, from "
         "0 to 1; default: the model's eval.rare")
      ->check(number(0, 1))
      ->type_name("R");
}

void add_known(CLI::App& app, std::string& file) {
  app.add_option("--known", file,
                 "Interactions: log of what the users of DATA have already; by default the one that the "
                 "model names, a "
                 "regular file, and only for a model in the folder of its run or a registry")
      ->type_name("FILE");
}

void add_keep_known(CLI::App& app, bool& keep) {
  app.add_flag("--keep-known", keep, "Interactions: answer what a user has already, too");
}

void add_labels(CLI::App& app, std::string& file) {
  app.add_option("--labels", file, "Names of the labels, one a line, label 0 first; default: the model's")
      ->type_name("FILE");
}

CLI::Option* add_titles(CLI::App& app, std::string& file) {
  return app
      .add_option("--titles", file,
                  "Print titles, too, of this file: an item and its title a line, as MovieLens's movies.dat")
      ->type_name("FILE");
}

void add_skip_bad(CLI::App& app, bool& skip_bad) {
  app.add_flag("--skip-bad", skip_bad, "Leave out and count rows with faults; exit code 3 if there are any");
}

CLI::Option* add_explain(CLI::App& app, std::uint32_t& features) {
  return app
      .add_option(
          "--explain", features,
          "With --json: beside each label the N features that raise it most, as \"because\", with what each "
          "adds to the logit")
      ->transform(whole(1, 100))
      ->type_name("N");
}

void add_strict(CLI::App& app, bool& strict) {
  app.add_flag("--strict", strict, "A warning about the data is an error, exit code 2");
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
