#include "engine/cli/app.h"

#include <malloc.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/cli/commands.h"
#include "engine/cli/fatal_signals.h"
#include "engine/cli/help_format.h"
#include "engine/cli/settings_file.h"
#include "engine/cli/spare_memory.h"
#include "engine/cli/text.h"
#include "engine/cli/usage.h"
#include "engine/cli/version.h"
#include "engine/cluster/launch.h"
#include "engine/serve/access_log.h"

namespace slide::cli {

namespace {

constexpr const char* kAbout =
    "Trains and uses networks with very many outputs, on the CPU: a training step\n"
    "computes and updates only neurons that samplers or hash tables choose.";

int fail(int code, std::string_view message) {
  log_line(message);
  return code;
}

// fail() for an error that all processes of a launcher may have. Rank 0 prints it and ends, and the launcher
// then ends the others. They wait 2 s for that, then print it, too: rank 0 may run another command.
int fail_together(int code, std::string_view message) {
  if (launched_processes() != 1 && launched_rank() != 0) std::this_thread::sleep_for(std::chrono::seconds(2));
  return fail(code, message);
}

// Commands that all processes run together, and one that rank 0 runs for all; other commands would run in
// each process and overwrite each other's results.
constexpr std::array kTogether = {"train", "tune", "test", "predict"};
constexpr const char* kByFirst = "convert";

std::string unknown_option(const CLI::App& app, const std::string& word) {
  const std::string nearest = nearest_option(app, word);
  return fmt::format("unknown option '{}'{} 'slide --help'", word,
                     nearest.empty() ? "; options of a command stand behind it, see" : nearest + " See");
}

// Runs the action of a command; returns its exit code, after a line on standard error where it failed.
// std::bad_alloc is left to the caller.
int execute(const Action& action, const Settings& settings) {
  try {
    action();
    return kExitDone;
  } catch (const Ended& end) {
    return end.code;
  } catch (const InputError& error) {
    return fail(kExitBadInput, settings.with_place(error.what()));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return fail(kExitFailed, error.what());
  } catch (...) {
    return fail(kExitFailed, "unknown failure");
  }
}

// For CLI11, which propagates only its own exceptions.
std::string version_or_error() {
  try {
    return version_line();
  } catch (const InputError& error) {
    throw CLI::ValidationError(error.what());
  }
}

void add_commands(CLI::App& app, Action& action) {
  add_train(app, action);
  add_tune(app, action);
  add_test(app, action);
  add_predict(app, action);
  add_recommend(app, action);
  add_similar(app, action);
  add_evaluate(app, action);
  add_vectors(app, action);
  add_serve(app, action);
  add_models(app, action);
  add_average(app, action);
  add_convert(app, action);
  add_generate(app, action);
  add_inspect(app, action);
  add_bench_tables(app, action);
  add_report(app, action);
  add_config(app, action);
  add_completion(app, action);
  add_man(app, action);
  add_help(app, action);
  add_version(app, action);
}

// Parses the words of a command with its settings; returns the exit code where that ends it.
std::optional<int> parse(std::vector<std::string> words, Settings& settings, CLI::App& app) {
  const auto refuse = [&](const std::string& message) {
    if (settings.value_of("log-format") == "json") set_log_format(serve::log_line);
    return fail_together(kExitBadInput, message);
  };
  try {
    settings.read_file();
    std::ranges::reverse(words);  // in the order that CLI11 expects
    app.parse(std::move(words));
    refuse_options_as_values(*app.get_subcommands().front());
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return refuse(settings.with_source(usage_fault(app, error)));
  } catch (const InputError& error) {  // of a file of settings
    return refuse(error.what());
  }
  for (const std::string& warning : settings.misspelt()) log_line(warning, "warning");
  return std::nullopt;
}

// Parses the command line and runs its command; returns the exit code. Unknown commands and options are
// reported before CLI11 parses, with a suggestion.
int parse_and_execute(int argc, char** argv) {
  Action action;
  CLI::App app(kAbout, "slide");
  app.set_version_flag("--version", version_or_error, "Print version, commit and instruction set");
  app.formatter(std::make_shared<HelpFormat>());  // inherited by the commands
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 the run failed, 2 bad usage, configuration, data or model,\n"
      "3 done but for bad rows that --skip-bad left out, 141 the output is closed,\n"
      "129, 130 and 143 stopped by SIGHUP, Ctrl-C and SIGTERM.");
  add_commands(app, action);
  if (argc == 1) {
    print_text(app.help());
    return kExitDone;
  }
  const auto commands_known = app.get_subcommands(nullptr);
  const auto is_named = [&](const CLI::App* sub) { return sub->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(commands_known.begin(), commands_known.end(), is_named)) {
    return fail_together(kExitBadInput, unknown_command(app, argv[1]));
  }
  const std::string first = argv[1];
  const std::string option = first.substr(0, first.find('='));
  if (first.size() > 1 && first.starts_with('-') && app.get_option_no_throw(option) == nullptr)
    return fail_together(kExitBadInput, unknown_option(app, first));
  const std::vector<std::string> words = arguments_of(argc, argv, app);
  Settings settings(words, app);
  if (const std::optional<int> ended = parse(words, settings, app)) return *ended;
  const std::string name = app.get_subcommands().front()->get_name();
  const bool alone = launched_processes() == 1 || std::ranges::count(kTogether, name) > 0;
  if (!alone && name != kByFirst) {
    return fail_together(kExitBadInput,
                         fmt::format("slide {} runs as one process; start it without mpirun", name));
  }
  return alone || launched_rank() == 0 ? execute(action, settings) : kExitDone;
}

}  // namespace

int run(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // print() and sockets report the error instead
  name_lost_files(kExitFailed);
  signal(SIGXFSZ, SIG_IGN);  // exceeding a file size limit (ulimit -f) is an error like a full disk
  // Freed memory returns to the system at once, from all threads: by default glibc raises its mmap threshold
  // up to 32 MB and keeps smaller blocks in an arena of each thread.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  mallopt(M_TRIM_THRESHOLD, 128 << 10);
  hold_spare_memory();
  try {
    return parse_and_execute(argc, argv);
  } catch (const std::bad_alloc&) {  // no memory to format a message
    std::fputs("slide: out of memory; 'slide inspect' tells how much a configuration needs\n", stderr);
    return kExitFailed;
  }
}

}  // namespace slide::cli
