// The commands of the program, a file for each: its options, and beside them what it does with them.
//
// Each function adds one command to `app`, and puts what it does into `action` when the command line names
// it. An action prints its results to standard output and throws what goes wrong; app.cpp turns that into a
// message and an exit code. One command runs in a process.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace slide::cli {

using Action = std::function<void()>;

// What an action throws when it ends otherwise than done and has said so: stopped by a signal, or without
// some rows; `code` is the exit code.
struct Ended {
  int code;
};

void add_train(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);
void add_test(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_evaluate(CLI::App& app, Action& action);
void add_vectors(CLI::App& app, Action& action);
void add_serve(CLI::App& app, Action& action);
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
