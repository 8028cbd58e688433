#include "engine/cli/convert_model.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/base/error.h"
#include "engine/base/number_text.h"
#include "engine/cli/options.h"
#include "engine/cli/text.h"

namespace slide::cli {

using Json = nlohmann::ordered_json;

namespace {

// "0.01", or "30%" for a share.
Pruning pruning_of(const std::string& text) {
  const bool share = text.ends_with('%');
  const auto value = number_of<double>(std::string_view(text).substr(0, text.size() - (share ? 1 : 0)));
  const double limit = share ? 100 : INFINITY;
  if (!value || !(*value > 0 && *value < limit)) {
    throw CLI::ValidationError(
        "--prune", fmt::format("{}: not a size above 0, as 0.01, or a share below 100, as 30%", text));
  }
  return share ? Pruning{0, *value / 100} : Pruning{*value, 0};
}

std::string row(std::string_view what, std::uint64_t before, std::uint64_t after) {
  if (before == 0 && after == 0) return "";
  return fmt::format("{:<18} {:>10} {:>10}\n", what, memory_text(double(before)), memory_text(double(after)));
}

// Section sizes, before and after.
std::string sizes(const ModelBytes& a, const ModelBytes& b) {
  return fmt::format("{:<18} {:>10} {:>10}\n", "", "before", "after") + row("weights", a.weights, b.weights) +
         row("linear term", a.wide, b.wide) + row("optimizer state", a.optimizer, b.optimizer) +
         row("neighbours", a.neighbours, b.neighbours) + row("text", a.text, b.text) +
         row("file", a.file, b.file);
}

// Table with one line per metric: name, before, after.
std::string measures(const QuantizeResult& result) {
  std::string text;
  const auto add = [&](std::string_view name, std::uint32_t k, double before, double after) {
    text += fmt::format("{:<18} {:>10.4f} {:>10.4f}\n", fmt::format("{}@{}", name, k), before, after);
  };
  for (std::size_t i = 0; i < result.before.measures.size(); ++i) {
    const Measures &a = result.before.measures[i], &b = result.after.measures[i];
    add("P", a.k, a.precision, b.precision);
    add("nDCG", a.k, a.ndcg, b.ndcg);
    add("recall", a.k, a.recall, b.recall);
  }
  return text;
}

Json side_json(const ModelSide& side) {
  Json json = {{"form", form_name(side.form)}};
  json.update(json_of(side.bytes));
  json["wide_weights"] = side.wide_weights;
  for (const Measures& m : side.measures) {
    json[fmt::format("p_at_{}", m.k)] = m.precision;
    json[fmt::format("ndcg_at_{}", m.k)] = m.ndcg;
    json[fmt::format("psp_at_{}", m.k)] = m.psp;
    json[fmt::format("recall_at_{}", m.k)] = m.recall;
  }
  return json;
}

std::string to_json(const QuantizeOptions& options, const QuantizeResult& result) {
  Json json = {{"model", options.model},
               {"out", options.out},
               {"samples", options.test.empty() ? Json() : Json(result.samples)},
               {"before", side_json(result.before)},
               {"after", side_json(result.after)}};
  if (const auto& fitted = result.calibration) {
    json["calibration"] = json_of(fitted->calibration);
    json["calibration"].update({{"samples", fitted->samples},
                                {"error_before", fitted->before.all},
                                {"error", fitted->after.all},
                                {"best_error_before", fitted->before.best},
                                {"best_error", fitted->after.best}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

const char* form_name(ModelForm form) {
  return form == ModelForm::kPlain ? "plain" : form == ModelForm::kBf16 ? "bf16" : "int8";
}

nlohmann::ordered_json json_of(const Calibration& calibration) {
  return {{"slope", calibration.slope}, {"offset", calibration.offset}, {"mass", calibration.mass}};
}

nlohmann::ordered_json json_of(const ModelBytes& bytes) {
  return {{"bytes", bytes.file},
          {"weights_bytes", bytes.weights},
          {"wide_bytes", bytes.wide},
          {"optimizer_bytes", bytes.optimizer},
          {"neighbours_bytes", bytes.neighbours},
          {"text_bytes", bytes.text}};
}

void add_quantize(CLI::App& app, QuantizeCommand& command) {
  app.add_flag("--drop-optimizer", command.drop_optimizer,
               "Model: leave out the state of the optimizer, as --weights and --prune do, too");
  app.add_option_function<std::string>(
         "--weights",
         [&command](const std::string& word) {
           command.options.form = word == "int8" ? ModelForm::kInt8 : ModelForm::kBf16;
         },
         "Model: keep weights and neighbours in so many bits, ids packed")
      ->check(CLI::IsMember({"bf16", "int8"}))
      ->type_name("bf16|int8");
  app.add_option_function<std::string>(
         "--prune", [&command](const std::string& text) { command.options.pruning = pruning_of(text); },
         "Model: drop weights of the linear term below X in size, as 0.01, or the smallest share, as 30%")
      ->type_name("X|N%");
  app.add_option(
         "--threshold", command.options.threshold,
         "Model: store the threshold that predictions use without further options, a number or a file of "
         "slide evaluate --save-thresholds")
      ->type_name("SCORE|FILE");
  app.add_option("--calibrate", command.options.calibrate,
                 "Model: fit its probabilities to the labels of this file, which training has not seen")
      ->type_name("FILE");
  app.add_option("--test", command.options.test, "Model: measure it before and after on this file")
      ->type_name("FILE");
}

void run_quantize(const QuantizeCommand& command, bool json) {
  const QuantizeOptions& options = command.options;
  if (!command.drop_optimizer && !options.form && !options.pruning && options.threshold.empty() &&
      options.calibrate.empty()) {
    fail_input(
        "{}: this is a model; say how it changes: --drop-optimizer, --weights bf16|int8, --prune X, "
        "--threshold T, --calibrate FILE",
        options.model);
  }
  const QuantizeResult result = quantize_model(options);
  print_notes(result.notes);
  if (json) return print_text(to_json(options, result));
  const ModelBytes &before = result.before.bytes, &after = result.after.bytes;
  print("{}: {}, {:.0f}% of {}\n", options.out, memory_text(double(after.file)),
        100.0 * double(after.file) / double(before.file), options.model);
  print_text(sizes(before, after));
  if (const auto& fitted = result.calibration) {
    print(
        "calibrated on {} samples: error of probabilities {:.4f} to {:.4f}, of best labels {:.4f} to "
        "{:.4f}\n",
        grouped(fitted->samples), fitted->before.all, fitted->after.all, fitted->before.best,
        fitted->after.best);
  }
  if (options.test.empty()) return;
  print("measures of {}, {} samples\n", options.test, grouped(result.samples));
  print_text(measures(result));
}

}  // namespace slide::cli
