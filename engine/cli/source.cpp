#include "engine/cli/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "datasets/formats/dense_data.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/text_encoding.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/cli/options.h"
#include "engine/cli/text.h"
#include "engine/cli/usage.h"
#include "engine/config/field.h"
#include "engine/model/model_file.h"
#include "engine/model/model_input.h"
#include "engine/run/continue_training.h"
#include "engine/run/run_data.h"
#include "engine/run/run_folder.h"
#include "engine/run/run_warnings.h"

namespace slide::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxEpochs = 1000000, kMaxExpire = 0x7fffffff;
constexpr std::size_t kHeadBytes = std::size_t{1} << 16;  // examined bytes of a file

bool names_train_data(const std::vector<std::string>& set) {
  return std::ranges::any_of(set, [](const std::string& key) { return key.starts_with("data.train="); });
}

// Whether a line is `[section]` or `key = value`. Labelled text would have a tab there.
bool is_toml(std::string_view line) {
  constexpr std::string_view kNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  if (line.find('\t') != std::string_view::npos) return false;
  const std::size_t brackets = std::min(line.find_first_not_of('['), line.size());
  const std::size_t end = std::min(line.find_first_not_of(kNames, brackets), line.size());
  const std::string_view rest = line.substr(end);
  if (end == brackets || brackets > 2) return false;
  if (brackets > 0) return rest.starts_with(brackets == 1 ? "]" : "]]");
  return rest.substr(std::min(rest.find_first_not_of(' '), rest.size())).starts_with('=');
}

// The first line of a file that is neither blank nor a comment, without leading blanks.
std::optional<std::string> first_line(const std::string& path) {
  std::string head(kHeadBytes, '\0');
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;  // a pipe can be read only once
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  for (auto text = without_byte_order_mark({head.data(), static_cast<std::size_t>(file.gcount())});
       !text.empty();) {
    std::string_view line = take_line(text);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (text.empty() && line.size() >= kHeadBytes / 2) return std::nullopt;  // too long for a configuration
    if (!line.empty() && line.front() != '#') return std::string(line);
  }
  return std::nullopt;
}

// "key=value" with a literal value.
std::string assignment(const char* key, const std::string& value) {
  if (first_no_utf8(value)) {
    fail_input(
        "{}: this name is not UTF-8, and config.toml, which holds it, must be; give the file another name",
        shown_part(value));
  }
  return fmt::format("{}={}", key, config::quote(value));
}

[[noreturn]] void fail_folder(const std::string& name) {
  std::error_code ignored;
  const RunFolder folder(name);
  if (fs::exists(folder.config(), ignored)) {
    fail_input(
        "{}: this is the folder of a run; go on with a stopped one by --resume {}, or train again as it was "
        "by "
        "naming {}",
        name, name, folder.config());
  }
  fail_input("{}: this is a folder; name the file with the training data, or a configuration", name);
}

void check_name(const std::string& given) {
  refuse_standard_input(given);
  std::error_code ignored;
  const std::string name = expanded(given);
  if (is_file_list(name)) return;
  if (fs::is_directory(name, ignored)) fail_folder(name);
  if (!fs::exists(name, ignored)) {
    if (name == "supervised") fail_input("train: {}", kFastTextForm);
    fail_input(
        "{}: there is no such file{}; name training data, or a configuration (a file that ends in .toml)",
        name, is_pattern(name) ? ", and the pattern matches none" : "");
  }
}

// Configuration of incremental training: the model's settings, overridden by a file (may be empty).
Config of_file_or_model(const ConfigText& file, const std::string& init,
                        const std::vector<std::string>& given) {
  std::string model = init;
  if (model.empty()) {
    Config config = file.origin.empty() ? resolve_defaults(given) : resolve_config(file, given);
    if (config.train.init.empty()) return config;
    model = config.train.init;
    if (is_stream(model))
      fail_input("{}: train.init is read more than once, and this is a pipe; give it by --init", model);
  }
  return resolve_over(continued_config(load_model_config(model), model), file, given);
}

// Reads the configuration; where the file was only taken for one, an error says how to name data.
Config of_file(const Source& source, const ConfigText& file, const std::vector<std::string>& given) {
  const std::string& path = file.origin;
  const bool guessed =
      !path.empty() && source.config.empty() && !path.ends_with(".toml") && !names_train_data(source.set);
  try {
    return of_file_or_model(file, source.init, given);
  } catch (const InputError& error) {
    if (!guessed) throw;
    fail_input("{}; {} was taken for a configuration: if it is data, say --set data.train={}", error.what(),
               path, path);
  }
}

}  // namespace

CLI::Option* add_source(CLI::App& app, Source& source, const char* name, const char* what) {
  CLI::Option* option = app.add_option(name, source.name, what);
  app.add_option("--config", source.config, "Configuration, whatever its name; without one the defaults hold")
      ->type_name("FILE");
  add_set(app, source.set);
  return option;
}

void require_source(const Source& source, const char* what) {
  if (source.name.empty() && source.config.empty() && source.set.empty()) throw CLI::RequiredError(what);
}

CLI::Option* add_test_data(CLI::App& app, std::string& test) {
  return app.add_option("--test", test, "Test data; overrides data.test")->type_name("FILE");
}

void add_init(CLI::App& app, Source& source) {
  app.add_option("--init", source.init, "Model, or folder of a run, to continue with new samples")
      ->type_name("MODEL");
  app.add_option("--forget", source.forget,
                 "With --init: drop labels that N such trainings in a row had no sample of")
      ->transform(whole(1, kMaxExpire))
      ->type_name("N");
}

void add_vectors_start(CLI::App& app, Source& source) {
  app.add_option("--vectors", source.vectors, "Vectors of words or features that the first layer starts from")
      ->type_name("FILE");
}

CLI::Option* add_train_epochs(CLI::App& app, std::optional<std::uint32_t>& epochs) {
  return app.add_option("--epochs", epochs, "Passes over the data; overrides train.epochs")
      ->transform(whole(1, kMaxEpochs))
      ->type_name("N");
}

bool names_model(const std::string& name) {
  std::error_code ignored;
  return name.ends_with(".slide") || fs::is_directory(name, ignored) || looks_like_model(name);
}

// Whether the first argument is a configuration: by its ending, else by its first line.
bool is_config(const Source& source) {
  if (source.name.empty() || !source.config.empty()) return false;
  if (source.name.ends_with(".toml")) return true;
  check_name(source.name);
  const std::string files = expanded(source.name);
  const std::optional<std::string> line = is_file_list(files) ? "" : first_line(files);
  if (names_train_data(source.set)) {
    if (!line || is_toml(*line)) return true;
    fail_input(
        "{}: data.train is given by --set, and this is no configuration; leave one out, or say --config {}",
        source.name, source.name);
  }
  return line && is_toml(*line);
}

// Combines the configuration file with overrides: data first, then --set, then the options that name keys.
Sourced resolve(const Source& source) {
  const bool named_config = is_config(source);
  Sourced sourced;
  std::vector<std::string>& given = sourced.given;
  if (!source.name.empty() && !named_config) {
    check_name(source.name);
    if (names_train_data(source.set))
      fail_input("data.train is given twice: as {} and by --set; leave one out", source.name);
    given.push_back(assignment("data.train", source.name));
  }
  if (!source.test.empty()) given.push_back(assignment("data.test", source.test));
  given.insert(given.end(), source.set.begin(), source.set.end());
  if (!source.init.empty()) given.push_back(assignment("train.init", source.init));
  if (!source.vectors.empty()) given.push_back(assignment("train.vectors", source.vectors));
  if (source.epochs) given.push_back(fmt::format("train.epochs={}", *source.epochs));
  if (source.forget) given.push_back(fmt::format("train.expire_labels={}", *source.forget));
  given = with_train_keys(std::move(given), source.threads, source.seed);
  const std::string& path = named_config ? source.name : source.config;
  const ConfigText file = path.empty() ? ConfigText() : read_config_text(path);
  sourced.config = of_file(source, file, given);
  if (source.forget && sourced.config.train.init.empty())
    fail_input("--forget is for incremental training; give it with --init MODEL");
  print_notes(notes_on_keys(file, given, sourced.config));
  return sourced;
}

// Name of the run: that of the configuration file, else of the first data file, without its ending.
std::string default_name(const Source& source, const Config& config) {
  const std::string& file = is_config(source) ? source.name : source.config;
  if (!file.empty()) return fs::path(file).stem().string();
  std::string first_file;
  std::string files = config.data.train;
  for_each_file(files, [&](std::string& part) {
    if (first_file.empty()) first_file = part;
  });
  fs::path data = fs::path(first_file).filename();
  if (data.string().ends_with(".gz")) data = data.string().substr(0, data.string().size() - 3);
  return data.stem().string();
}

}  // namespace slide::cli
