// `slide recommend`: the top items of users of a model of interactions.
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "datasets/rows/data_parts.h"
#include "engine/base/error.h"
#include "engine/cli/commands.h"
#include "engine/cli/options.h"
#include "engine/cli/predict_run.h"
#include "engine/cli/ranks.h"

namespace slide::cli {

namespace {

constexpr std::uint32_t kItems = 20;

// Sorts --out by its ending: a matrix, or text in a file.
void take_out(const std::string& name, PredictCommand& command) {
  if (name.ends_with(".npz")) {
    command.out = name;
    return;
  }
  command.text_out = name;
  if (name.ends_with(".jsonl")) command.json = true;
}

// Throws InputError for the name of a user in place of a file of users.
void refuse_user_as_file(const std::string& users) {
  std::error_code ignored;
  if (users.empty() || users == "-" || is_pattern(users) || std::filesystem::exists(users, ignored)) return;
  fail_input(
      "{}: no such file; --users names a file with a user a line; for a single user write "
      "'echo USER | slide recommend MODEL --users -'",
      users);
}

CLI::Validator known_ending() {
  const auto check = [](const std::string& name) {
    const bool known = name.ends_with(".npz") || name.ends_with(".tsv") || name.ends_with(".jsonl");
    return known ? std::string() : fmt::format("'{}' must end in .npz, .tsv or .jsonl", name);
  };
  return {check, ""};
}

}  // namespace

void add_recommend(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("recommend", "Print the best items of users, by name");
  sub->footer(
      "For models of interactions. Users are looked up in the log that the model was trained on, or that of\n"
      "--known; what they have is left out. A line an item, best first: user, item, score, with TABs\n"
      "between. FILE of --users has a user a line; items behind the name count as had, so that new users\n"
      "are answered by their items. A name with blanks that the log does not have goes into quotes. --out\n"
      "FILE.npz is a matrix of SciPy with the names of its rows.");
  const auto command = std::make_shared<PredictCommand>();
  command->of_users = true;
  command->k = kItems;
  sub->add_option("MODEL", command->model, "Folder of a run, or a model file")->required();
  const auto take_users = [command](const std::string& users) {
    command->data = users == "all" ? "" : users;
  };
  sub->add_option_function<std::string>(
         "--users", take_users,
         "File of users, or - for standard input, or 'all' of the log, in its order; default: all")
      ->type_name("FILE|all");
  const auto take_k = [command](const std::uint32_t& k) { command->k = k; };
  sub->add_option_function<std::uint32_t>("--k", take_k, "Items a user; default: 20")
      ->transform(whole(1, kMaxK))
      ->type_name("K");
  add_keep_known(*sub, command->use.keep_known);
  add_known(*sub, command->use.known);
  const auto take_threshold = [command](const std::string& text) { command->threshold = std::stod(text); };
  sub->add_option_function<std::string>("--threshold", take_threshold, "Leave out items with lower scores")
      ->check(threshold_probability())
      ->type_name("SCORE");
  CLI::Option* titles = add_titles(*sub, command->titles);
  const auto take_file = [command](const std::string& name) { take_out(name, *command); };
  sub->add_option_function<std::string>("--out", take_file, "Write to this file, and print nothing")
      ->check(known_ending())
      ->type_name("FILE.npz|.tsv|.jsonl");
  sub->add_flag("--json", command->json, "Print a JSON object a user")->excludes("--out");
  add_explain(*sub, command->explain);
  add_inference(*sub, command->use.inference);
  add_rare(*sub, command->use.rare);
  add_strict(*sub, command->strict);
  add_threads(*sub, command->use.threads);
  sub->callback([command, titles, &action] {
    if (titles->count() > 0 && !command->out.empty())
      throw CLI::ValidationError("--titles", "a matrix holds no titles; give --out FILE.tsv or FILE.jsonl");
    if (command->explain > 0 && !command->json)
      throw CLI::ValidationError("--explain", "only objects hold reasons; give --json or --out FILE.jsonl");
    command->tsv = !command->json && command->out.empty();
    action = [command] {
      refuse_user_as_file(command->data);
      run_together("recommend", [&](Cluster& cluster) { run_predict(*command, cluster); });
    };
  });
}

}  // namespace slide::cli
