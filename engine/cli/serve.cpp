// `slide serve`: answers predictions over HTTP until a signal arrives.
#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include "engine/cli/commands.h"
#include "engine/cli/options.h"
#include "engine/cli/settings_file.h"
#include "engine/cli/spare_memory.h"
#include "engine/cli/text.h"
#include "engine/model/output_files.h"
#include "engine/serve/access_log.h"
#include "engine/serve/http_server.h"
#include "engine/serve/predict_api.h"

namespace slide::cli {

namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 32;
constexpr std::uint64_t kMaxWaiting = 1000000;
constexpr double kMaxSeconds = 86400;

struct ServeCommand {
  serve::ServedModel::Options model;
  serve::ServerOptions server;
  bool json_logs = false;
};

// Starts the server and runs it until a signal stops it; `load` is called again for each reload.
void run_serve(const ServeCommand& command) {
  tolerate_closed_output();
  const std::string& log_file = command.server.access_log;
  check_outputs(std::array{OutputFile{"--access-log", log_file == "-" ? "" : log_file}},
                std::array{command.model.path, command.model.labels, command.model.known});
  const auto load = [&] {
    auto model = std::make_shared<const serve::ServedModel>(command.model);
    print_notes(model->model().notes);
    return model;
  };
  const auto log = [](std::string_view event, std::string_view line) {
    hold_spare_memory();  // memory may be available again
    log_line(line, event);
  };
  serve::HttpServer server(command.server, load, log);
  command.json_logs ? print_text(serve::log_line("listening", server.url()))
                    : print("listening on {}\n", server.url());
  server.run();
  if (server.loading()) std::_Exit(0);  // a stop does not wait for a model
}

}  // namespace

void add_serve(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("serve", "Answer predictions over HTTP");
  sub->footer(
      "POST /predict takes {\"text\": \"...\"}, {\"features\": {\"ID\": VALUE}}, {\"user\": \"NAME\"} of "
      "interactions,\n"
      "or {\"inputs\": [...]}, and answers with the best labels; with --similar POST /similar takes "
      "{\"item\": \"NAME\"}; GET /health and GET /metrics (Prometheus) "
      "tell how it goes. Prints the address when "
      "it\n"
      "is ready. SIGHUP loads MODEL again; Ctrl-C and SIGTERM answer what is under way and end with exit "
      "code 0.");
  const auto command = std::make_shared<ServeCommand>();
  serve::ServerOptions& server = command->server;
  const auto count = [sub](const char* name, auto& value, const char* meaning, std::uint64_t low,
                           std::uint64_t high) {
    sub->add_option(name, value, meaning)->capture_default_str()->transform(whole(low, high))->type_name("N");
  };
  const auto seconds = [sub](const char* name, double& value, const char* meaning) {
    sub->add_option(name, value, meaning)
        ->capture_default_str()
        ->check(number(0.001, kMaxSeconds))
        ->type_name("S");
  };
  sub->add_option("MODEL", command->model.path, "Folder of a run, or a model file")->required();
  sub->add_option("--host", server.host, "Address to listen on")->capture_default_str()->type_name("HOST");
  sub->add_option("--allow-host", server.allowed_hosts,
                  "Name that requests may call the server by, beside localhost and addresses, and of pages "
                  "that may ask it; '*' = any")
      ->type_name("NAME")
      ->delimiter(',')
      ->allow_extra_args(false);
  server.port = 8080;
  count("--port", server.port, "Port; 0 = any that is free", 0, 65535);
  count("--k", server.k,
        "Labels an answer, when the request does not say; given, a threshold of the model has no effect", 1,
        serve::kMaxK);
  count("--max-body", server.max_body, "Bytes of a request at most", 1, kMaxBytes);
  count("--max-queue", server.max_queue,
        "Requests that may wait for a thread; more are told to come again (503)", 0, kMaxWaiting);
  count("--max-connections", server.max_connections, "Connections at once", 1, kMaxWaiting);
  count("--max-waiting", server.max_waiting,
        "Bytes of requests and answers that may wait, of all connections together; beyond it 503", 1,
        kMaxBytes);
  seconds("--timeout", server.timeout,
          "Seconds that a request may take to arrive, wait, or have its answer taken");
  sub->add_flag("--any-kind", server.any_kind,
                "SIGHUP may load a model that takes other inputs than the one before");
  seconds("--keep-alive", server.keep_alive, "Seconds that a connection may be idle");
  sub->add_option("--access-log", server.access_log,
                  "Append a line of JSON for each answer to FILE; '-' = standard output")
      ->type_name("FILE");
  const auto take_log = [command](const std::string& format) {
    command->json_logs = format == "json";
    if (command->json_logs) set_log_format(serve::log_line);
  };
  sub->add_option_function<std::string>(
         "--log-format", take_log, "Lines of standard output and standard error: text, or JSON with the time")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("text|json");
  const auto take_threshold = [command](const std::string& text) {
    command->model.threshold = std::stod(text);
  };
  sub->add_option_function<std::string>("--threshold", take_threshold,
                                        "All labels that reach it, when the request says neither k nor a "
                                        "threshold; default: that of the model")
      ->check(threshold_probability())
      ->type_name("SCORE");
  add_labels(*sub, command->model.labels);
  sub->add_option("--known", command->model.known,
                  "Interactions: what users have, to look them up; default: the model's training file")
      ->type_name("FILE");
  sub->add_flag("--similar", command->model.similar,
                "Also answer POST /similar: the labels, or items, most similar to given ones");
  sub->add_flag("--similar-features", command->model.similar_features,
                "The same of what samples are made of: words, or features; of interactions items as input");
  add_inference(*sub, command->model.inference);
  add_rare(*sub, command->model.rare);
  add_threads(*sub, server.threads);
  take_settings(*sub);
  sub->callback([sub, command, &action] {
    command->model.threads = command->server.threads;
    command->model.without_thresholds = sub->count("--k") > 0;
    action = [command] { run_serve(*command); };
  });
}

}  // namespace slide::cli
