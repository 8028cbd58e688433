// The commands of the program, one file each with options and action.
//
// Each function adds one command to `app`; when the command line names it, it stores its action in `action`.
// An action prints its results to standard output and throws on errors, which app.cpp converts to a message
// and an exit code. One command per process.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace slide::cli {

using Action = std::function<void()>;

// Thrown by an action that has already reported its abnormal end (stopped by a signal, or skipped rows);
// `code` is the exit code.
struct Ended {
  int code;
};

void add_train(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);
void add_test(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_recommend(CLI::App& app, Action& action);
void add_similar(CLI::App& app, Action& action);
void add_evaluate(CLI::App& app, Action& action);
void add_vectors(CLI::App& app, Action& action);
void add_serve(CLI::App& app, Action& action);
void add_models(CLI::App& app, Action& action);
void add_average(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_generate(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_bench_tables(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_config(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);
void add_man(CLI::App& app, Action& action);
void add_help(CLI::App& app, Action& action);
void add_version(CLI::App& app, Action& action);

}  // namespace slide::cli
