#include "engine/cli/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "engine/cli/help_format.h"
#include "engine/config/names.h"

namespace slide::cli {

namespace {

// Whether a word is `section.key=value`. A file of such a name can be given as ./NAME.
bool is_assignment(std::string_view word) {
  constexpr std::string_view kNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  const std::string_view key = word.substr(0, std::min(word.find_first_not_of(kNames), word.size()));
  return !key.starts_with('-') && word.substr(key.size()).starts_with('=') &&
         key.find('.') != std::string_view::npos;
}

// Whether a word has the form of an option.
bool like_option(const std::string& word) {
  return word.size() > 1 && word.starts_with('-');
}

// "DATA", "MODEL DATA": the positional arguments of a command.
std::string positionals(const CLI::App& sub) {
  std::string names;
  for (const CLI::Option* option : sub.get_options()) {
    if (option->get_positional()) names += (names.empty() ? "" : " ") + usage_of(*option);
  }
  return names.empty() ? "no arguments" : names;
}

// The message where a positional option got fewer arguments than its minimum (as in a command that takes two
// models), which CLI11 counts without the others; else `otherwise`.
std::string missing_fault(const CLI::App& sub, const std::string& otherwise) {
  for (const CLI::Option* option : sub.get_options()) {
    const int min_args = option->get_items_expected_min();
    const std::size_t given = option->count();
    if (!option->get_positional() || given == 0 || given >= static_cast<std::size_t>(min_args)) continue;
    return fmt::format("{} takes at least {} arguments, {}; there {} {}", sub.get_name(), min_args,
                       positionals(sub), given == 1 ? "is" : "are", given);
  }
  return otherwise;
}

// Options of other programs, fastText above all, that are keys here: {option without hyphens in lower case,
// key}.
constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kKeysOfOptions = {
    {{"lr", "optimizer.learning_rate"},
     {"learningrate", "optimizer.learning_rate"},
     {"dim", "layer.0.size"},
     {"hidden", "layer.0.size"},
     {"hiddensize", "layer.0.size"},
     {"batchsize", "train.batch_size"},
     {"bucket", "text.hash_buckets"},
     {"dropout", "layer.0.dropout"},
     {"loss", "loss.kind"},
     {"maxn", "text.char_ngrams_max"},
     {"mincount", "text.min_count"},
     {"mincountlabel", "text.min_label_count"},
     {"minn", "text.char_ngrams_min"},
     {"neg", "layer.-1.uniform"},
     {"optimizer", "optimizer.kind"},
     {"patience", "train.patience"},
     {"weightdecay", "optimizer.weight_decay"},
     {"wordngrams", "text.word_ngrams"}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kOtherCommands = {
    {{"fit", "train"},
     {"nn", "similar"},
     {"predict-prob", "predict"},
     {"print-sentence-vectors", "vectors"},
     {"quantize", "convert"}}};

template <std::size_t N>
std::string_view found_in(const std::array<std::pair<std::string_view, std::string_view>, N>& names,
                          std::string_view name) {
  const auto found = std::ranges::find(names, name, [](const auto& pair) { return pair.first; });
  return found == names.end() ? std::string_view() : found->second;
}

// Advice for an option that a command lacks and other programs have: "; write ..."; else empty.
std::string instead_of_option(const CLI::App& sub, const std::string& word) {
  std::string name;
  for (const char c : word.substr(0, word.find('='))) {
    if (c != '-' && c != '_') name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const auto has = [&](std::string_view option) {
    return sub.get_option_no_throw(std::string(option)) != nullptr;
  };
  if (const std::string_view key = found_in(kKeysOfOptions, name); !key.empty() && has("--set"))
    return fmt::format("; it is a key here: --set {}=...", key);
  if (name == "pretrainedvectors" && has("--vectors")) return "; it is --vectors here";
  if (name == "input") return fmt::format("; give the file alone, {}", positionals(sub));
  return {};
}

// Whether an argument is fastText's command.
bool is_fasttext_form(const CLI::App& sub) {
  return sub.get_name() == "train" && std::ranges::any_of(sub.get_options(), [](const CLI::Option* option) {
           return option->get_positional() && std::ranges::count(option->results(), "supervised") > 0;
         });
}

// The message for words that the parser left over: an option behind "--", an unknown option, or an argument
// too many.
std::string extra_fault(const CLI::App& sub) {
  if (is_fasttext_form(sub)) return fmt::format("train: {}", kFastTextForm);
  std::vector<std::string> extras = sub.remaining();
  const bool behind_mark = extras.empty() || std::ranges::count(extras, "--") > 0;
  if (extras.empty() && sub.get_parent() != nullptr) extras = sub.get_parent()->remaining();
  const auto option =
      std::ranges::find_if(extras, [](const std::string& word) { return like_option(word) && word != "--"; });
  if (option != extras.end() && behind_mark)
    return fmt::format(
        "{}: '{}' stands behind '--', where there are arguments alone; give options before '--'",
        sub.get_name(), *option);
  if (option != extras.end()) {
    return fmt::format("{} has no option {}{}", sub.get_name(), *option, nearest_option(sub, *option));
  }
  const char* test =
      sub.get_option_no_throw("--test") != nullptr
          ? ", several files as a pattern in quotes ('part*.txt'), and test data as --test FILE"
          : "";
  return fmt::format("{}: '{}' is one argument too many; it takes {}{}", sub.get_name(),
                     extras.empty() ? "" : extras.front(), positionals(sub), test);
}

// The words in front of "--" that are arguments; nullopt where only the parser can tell, as of an unknown
// option or one of many values.
std::optional<std::vector<bool>> find_arguments(std::span<const std::string> words, const CLI::App& sub) {
  std::vector<bool> arguments(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    arguments[i] = !like_option(words[i]);
    if (arguments[i]) continue;
    const std::size_t equals = words[i].find('=');
    const CLI::Option* option = sub.get_option_no_throw(words[i].substr(0, equals));
    if (option == nullptr || option->get_items_expected_max() > 1) return std::nullopt;
    if (option->get_items_expected_max() == 1 && equals == std::string::npos) ++i;
  }
  return arguments;
}

// Lets arguments stand on both sides of "--". CLI11 gives what is behind it to arguments that are required
// alone, unless all are there: so "--" goes, or, before an argument that begins with '-', it moves in front
// of the first argument. An option behind it stays for the parser to refuse.
void place_mark(std::vector<std::string>& words, const CLI::App& app) {
  const auto mark = std::ranges::find(words, "--");
  if (mark == words.end() || mark == words.begin()) return;
  if (std::none_of(mark + 1, words.end(), like_option)) {
    words.erase(mark);
    return;
  }
  const auto commands = app.get_subcommands(nullptr);
  const auto command =
      std::ranges::find_if(commands, [&](const CLI::App* one) { return one->get_name() == words.front(); });
  const CLI::App* sub = command == commands.end() ? nullptr : *command;
  const auto is_option = [&](const std::string& word) {
    return like_option(word) && sub->get_option_no_throw(word.substr(0, word.find('='))) != nullptr;
  };
  if (sub == nullptr || std::any_of(mark + 1, words.end(), is_option)) return;
  const auto arguments = find_arguments({words.begin() + 1, mark}, *sub);
  if (!arguments) return;
  std::vector<std::string> placed = {words.front()}, moved = {"--"};
  for (std::size_t i = 0; i < arguments->size(); ++i)
    ((*arguments)[i] ? moved : placed).push_back(words[i + 1]);
  std::ranges::move(moved, std::back_inserter(placed));
  placed.insert(placed.end(), mark + 1, words.end());
  words = std::move(placed);
}

// Moves --labels of `slide inspect` without a number to the end: what follows it is the subject.
void place_labels(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "inspect" || std::ranges::count(arguments, "--") > 0) return;
  const auto option = std::ranges::find(arguments, "--labels");
  if (option == arguments.end() || option + 1 == arguments.end()) return;
  const std::string& next = *(option + 1);
  const bool is_number = std::ranges::all_of(next, [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!is_number && !next.starts_with('-')) std::rotate(option, option + 1, arguments.end());
}

}  // namespace

// Lets one --set take several assignments: repeats --set before each further word KEY=VALUE.
std::vector<std::string> arguments_of(int argc, char** argv, const CLI::App& app) {
  std::vector<std::string> arguments;
  bool behind_set = false;  // all words since --set were keys
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool value = !arguments.empty() && arguments.back() == "--set";
    if (behind_set && !value && is_assignment(word)) arguments.emplace_back("--set");
    behind_set = word == "--set" || word.starts_with("--set=") || (behind_set && is_assignment(word));
    arguments.push_back(word);
  }
  place_mark(arguments, app);
  place_labels(arguments);
  return arguments;
}

std::string unknown_command(const CLI::App& app, const std::string& name) {
  if (name == "supervised") return fmt::format("unknown command: {}", kFastTextForm);
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) names.push_back(sub->get_name());
  const std::string_view other = found_in(kOtherCommands, name);
  const std::string nearest =
      config::suggestion(other.empty() ? config::near_name(name, names) : std::string(other));
  return fmt::format("unknown command '{}'{} 'slide --help'", name,
                     nearest.empty() ? "; see" : nearest + " See");
}

std::string nearest_option(const CLI::App& sub, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : sub.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  }
  if (std::string other = instead_of_option(sub, word); !other.empty()) return other;
  const std::string given = word.substr(0, word.find('='));
  const std::string nearest =
      config::near_name(given.substr(std::min(given.find_first_not_of('-'), given.size())), names);
  return config::suggestion(nearest.empty() ? "" : "--" + nearest);
}

void refuse_options_as_values(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& value : option->results()) {
      if (!value.starts_with("--") || command.get_option_no_throw(value) == nullptr) continue;
      throw CLI::ValidationError(
          option->get_name(), fmt::format("{} is an option, not its value; give the value before it", value));
    }
  }
}

std::string usage_fault(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  if (parsed.empty()) return fmt::format("{}; see 'slide --help'", error.what());
  const CLI::App& sub = *parsed.front();
  const std::vector<std::string> left = sub.remaining();
  const bool unknown = std::ranges::count(left, "--") == 0 && std::ranges::any_of(left, like_option);
  const bool extra = unknown || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const std::string what = extra ? extra_fault(sub) : missing_fault(sub, error.what());
  return fmt::format("{}{} 'slide {} --help'", what, what.ends_with('?') ? " See" : "; see", sub.get_name());
}

}  // namespace slide::cli
