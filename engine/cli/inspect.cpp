// `slide inspect`: shows a model or a configuration.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "datasets/formats/dense_data.h"
#include "engine/base/error.h"
#include "engine/base/free_memory.h"
#include "engine/base/parallel.h"
#include "engine/cli/commands.h"
#include "engine/cli/convert_model.h"
#include "engine/cli/inspect_data.h"
#include "engine/cli/inspect_json.h"
#include "engine/cli/inspect_label.h"
#include "engine/cli/options.h"
#include "engine/cli/source.h"
#include "engine/cli/text.h"
#include "engine/cli/warnings.h"
#include "engine/config/spellings.h"
#include "engine/inference/auto_inference.h"
#include "engine/knn/training_rows.h"
#include "engine/model/model_file.h"
#include "engine/run/data_look.h"
#include "engine/run/require_memory.h"
#include "engine/run/run_data.h"
#include "engine/training/memory_plan.h"
#include "engine/wide/linear_term.h"

namespace slide::cli {

namespace {

// A whole number above 0, or nothing.
CLI::Validator whole_or_none(std::uint64_t high) {
  const CLI::Validator number = whole(1, high);
  return {[number](std::string& text) { return text.empty() ? std::string() : number(text); }, ""};
}

struct InspectCommand {
  Source source;               // or a model
  std::uint32_t features = 0;  // configuration: sizes of the data, 0 = read data.train
  std::uint32_t labels = 0;
  bool list_labels = false;              // model: all of them
  std::vector<std::string> show_labels;  // model: labels to show, by name or id
  std::uint32_t k = 10;                  // nearest labels and strongest features of each
  int threads = 0;
  bool json = false;
  bool strict = false;
};

// Assumed maxima per sample where there is no data.
constexpr std::size_t kGuessedFeatures = 200, kGuessedLabels = 10;

struct Sizes {
  std::size_t features = 0;
  std::size_t labels = 0;
  BlockBounds bounds;
  bool guessed = true;                // of the bounds
  std::size_t samples = 0;            // of the data read
  std::size_t crosses = 0;            // feature crosses; the maximum where guessed
  std::optional<DataLook> data = {};  // that was read
};

BlockBounds guessed_bounds(const Config& config) {
  return {kGuessedFeatures * config.train.block_size, kGuessedLabels * config.train.block_size};
}

std::string kind_text(const LayerConfig& layer, bool last) {
  if (layer.kind == LayerKind::kDense) return last ? "dense output" : "dense";
  std::string sources;
  const auto add = [&](std::uint32_t count, const char* name) {
    if (count > 0) sources += fmt::format("{}{} {}", sources.empty() ? "" : " + ", count, name);
  };
  add(layer.lsh, "lsh");
  add(layer.uniform, "uniform");
  add(layer.frequency, "frequency");
  return fmt::format("sampled {}({})", last ? "output " : "", sources);
}

// `optimizer`: whether its state is listed.
void print_layers(const Config& config, const MemoryPlan& plan, bool optimizer) {
  const auto state = [&](const std::string& text) { return optimizer ? fmt::format("{:>10}", text) : ""; };
  print("{:>5} {:>10} {:>10} {:>14} {:>9}{} {:>9}  {}\n", "layer", "inputs", "neurons", "parameters",
        "weights", state("optimizer"), "tables", "kind");
  for (std::size_t l = 0; l < plan.layers.size(); ++l) {
    const LayerPlan& layer = plan.layers[l];
    print("{:>5} {:>10} {:>10} {:>14} {:>9}{} {:>9}  {}\n", l, grouped(layer.inputs), grouped(layer.neurons),
          grouped(static_cast<std::uint64_t>(layer.parameters)), memory_text(layer.weights),
          state(memory_text(layer.state)), memory_text(layer.tables),
          kind_text(config.layers[l], l + 1 == plan.layers.size()));
  }
}

void print_memory(const Config& config, const MemoryPlan& plan, int threads, bool guessed, bool optimizer) {
  print("parameters         {}\n", grouped(static_cast<std::uint64_t>(plan.parameters())));
  print("weights            {}\n", memory_text(plan.weights()));
  if (optimizer) print("optimizer state    {}\n", memory_text(plan.state()));
  print("tables             {} (estimate)\n", memory_text(plan.tables()));
  if (plan.neighbours > 0) {
    print("neighbours         {}\n", memory_text(plan.neighbours));
  } else if (config.neighbours.share > 0) {
    print("neighbours         some 12 bytes for each feature of each training sample, not counted below\n");
  }
  print("workspaces         {} (estimate, {} threads{})\n", memory_text(plan.workspaces()), threads,
        guessed ? fmt::format(", samples of up to {} features", kGuessedFeatures) : "");
  if (plan.regression > 0)
    print("regression         {} at most, of items, before optimizer, tables and workspaces are there\n",
          memory_text(plan.regression));
  print("training           {} beside the data\n", memory_text(plan.training()));
  print("inference          {}, with tables {}\n", memory_text(plan.weights() + plan.neighbours),
        memory_text(plan.weights() + plan.neighbours + plan.tables()));
  const Inference mode = config.eval.inference, used = resolved_inference(config, plan.layers.back().neurons);
  print("eval.inference     {}{}\n", spelling(mode),
        mode == Inference::kAuto ? fmt::format(": {} for such labels", spelling(used)) : "");
}

// A line for each size of bucket, with a bar of its share of the buckets.
void print_histogram(const lsh::Occupancy& occupancy) {
  constexpr double kBar = 40;  // characters of all buckets
  const auto& buckets = occupancy.histogram;
  std::size_t all = 0, last = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    all += buckets[i];
    if (buckets[i] > 0) last = i;
  }
  for (std::size_t i = 0; all > 0 && i <= last; ++i) {
    const std::size_t low = i == 0 ? 0 : std::size_t{1} << (i - 1), high = i < 2 ? low : 2 * low - 1;
    const double bar = std::ceil(kBar * (double(buckets[i]) / double(all)));
    print("         {:>13} entries {:>12} buckets {}\n",
          low == high ? grouped(low) : fmt::format("{}-{}", grouped(low), grouped(high)), grouped(buckets[i]),
          std::string(static_cast<std::size_t>(bar), '#'));
  }
}

void print_tables(std::size_t number, const lsh::NeuronIndex& index) {
  const lsh::Occupancy occupancy = index.occupancy();
  const auto percent = [](std::size_t part, std::size_t whole) {
    return whole == 0 ? 0.0 : 100.0 * double(part) / double(whole);
  };
  print("layer {}: {} tables, {} buckets in all, {:.1f}% used, {:.1f}% full\n", number, index.config().tables,
        grouped(occupancy.buckets), percent(occupancy.used_buckets, occupancy.buckets),
        percent(occupancy.full_buckets, occupancy.buckets));
  print("         {} entries, {:.1f} in a used bucket, {}\n", grouped(occupancy.stored), occupancy.mean_used,
        memory_text(double(index.bytes())));
  const std::size_t neurons = occupancy.filed / std::max(index.config().tables, 1U);
  print("         largest bucket hashed to by {} neurons ({:.1f}%), {:.1f}% of the neurons in full buckets\n",
        grouped(occupancy.largest_bucket), percent(occupancy.largest_bucket, neurons),
        percent(occupancy.filed_in_full, occupancy.filed));
  print_histogram(occupancy);
}

BlockBounds bounds_of(const Model& model) {
  BlockBounds bounds = guessed_bounds(model.config);
  bounds.dense = model.shape.dense;
  if (const auto& neighbours = model.neighbours) {
    bounds.samples = neighbours->samples();
    bounds.all_features = neighbours->storage().features.size();
    bounds.all_labels = neighbours->storage().labels.size();
    bounds.all_shared = bounds.all_features;
  }
  return bounds;
}

// Uses actual sizes of matrices and neighbours, which are smaller for int8 than the configuration implies.
void plan_small(const Model& model, MemoryPlan& plan) {
  const std::vector<const Parameters*> matrices = model.network.matrices();
  for (std::size_t l = 0; l < plan.layers.size(); ++l) {
    const Parameters& weights = *matrices[2 * l];
    plan.layers[l].weights +=
        double(weights.bytes()) -
        double(Parameters::bytes_of(weights.rows, weights.columns, model.config.train.weights));
  }
  if (model.neighbours) plan.neighbours = double(model.neighbours->bytes());
}

// Uses the actual number of linear-term weights instead of the maximum.
MemoryPlan plan_of(const Model& model, int threads) {
  MemoryPlan plan =
      plan_memory(model.config, model.shape.inputs(), model.shape.labels, bounds_of(model), threads);
  if (model.form == ModelForm::kInt8) plan_small(model, plan);
  const Layer& output = model.network.output();
  if (linear_term_of(output) == nullptr) return plan;
  const auto neurons = double(output.size());
  const double max_weights =
      LinearTerm::max_weights(output.config(), neurons, double(bounds_of(model).label_features));
  LayerPlan& layer = plan.layers.back();
  layer.weights -= LinearTerm::bytes_of(max_weights, neurons) - double(linear_term_of(output)->bytes());
  layer.state -= (max_weights - double(linear_term_of(output)->weights())) * sizeof(float);
  return plan;
}

void print_model(const Model& model, const std::string& path) {
  const DataShape& shape = model.shape;
  print("model              {}, format {}, after {} steps\n", path, model.version, grouped(model.steps));
  print("trained on         {} samples, {} features, {} labels\n", grouped(shape.samples),
        grouped(shape.features), grouped(shape.labels));
  if (shape.dense > 0) print("dense features     {}\n", dense_text(shape.dense, model.config.data));
  if (shape.crosses > 0) print("feature crosses    {}\n", grouped(shape.crosses));
  if (model.config.data.idf_power != 0)
    print("feature values     times their rarity to the power {}\n", model.config.data.idf_power);
  if (model.text != nullptr) {
    print("{:<18} {}, vocabulary and names of labels in the file\n",
          has_items(model.text->form()) ? "interactions" : "text", form_shown(model.text->form()));
  }
  if (const auto& neighbours = model.neighbours) {
    print("kNN                {} neighbours of {} samples, share {:.0f}%\n", model.config.neighbours.count,
          grouped(neighbours->samples()), 100.0 * model.config.neighbours.share);
  }
  if (const auto& own = model.thresholds)
    print("threshold          {:.6g}, {} labels have their own\n", own->all(), grouped(own->own().size()));
  if (const auto& c = model.calibration)
    print("calibration        slope {:.4g}, offset {:.4g}, mass {:.4g}\n", c->slope, c->offset, c->mass);
  print("optimizer state    {} in the file\n", model.has_optimizer_state ? "is" : "is not");
  const ModelBytes& bytes = model.bytes;
  print("file               {}: weights {}, linear term {}, {}neighbours {}, text {}\n",
        memory_text(double(bytes.file)), memory_text(double(bytes.weights)), memory_text(double(bytes.wide)),
        model.has_optimizer_state ? "optimizer " + memory_text(double(bytes.optimizer)) + ", " : "",
        memory_text(double(bytes.neighbours)), memory_text(double(bytes.text)));
  if (model.form != ModelForm::kPlain)
    print("form               {}, in the file and in memory\n", form_name(model.form));
}

void inspect_labels(const InspectCommand& command, const Model& model) {
  if (command.list_labels)
    return command.json ? print_text(text_of(json_of_label_list(model))) : print_labels(model);
  if (command.json) return print_text(text_of(json_of_labels(model, command.show_labels, command.k)));
  for (const std::string& label : command.show_labels) print_label(model, label, command.k);
}

void inspect_model(const InspectCommand& command) {
  Model model = load_model(command.source.name);
  print_notes(model.notes);
  if (command.list_labels || !command.show_labels.empty()) return inspect_labels(command, model);
  const int threads = resolve_threads(command.threads);
  const MemoryPlan plan = plan_of(model, threads);
  if (command.json) {
    nlohmann::ordered_json json = json_of(model, command.source.name);
    json.update(json_of(model.config, plan, true));
    model.build_tables(threads);
    json["tables"] = json_of_tables(model);
    return print_text(text_of(json));
  }
  print_model(model, command.source.name);
  print_layers(model.config, plan, model.has_optimizer_state);
  print_memory(model.config, plan, threads, true, model.has_optimizer_state);
  model.build_tables(threads);
  const auto& layers = model.network.layers();
  const std::size_t first = model.config.layers.size() - layers.size();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (layers[l].index() != nullptr) print_tables(first + l, *layers[l].index());
  }
}

Sizes sizes_of_data(const Config& config, int threads) {
  const RunData data = read_run_data(config, threads);
  // For a network far beyond memory, the crosses add no information, and their search needs memory too.
  const bool fits = plan_least(config, data.train, 1).training() <= free_memory().value_or(INFINITY);
  const TrainingRows rows = fits ? TrainingRows(config, data.train, resolve_threads(threads)) : data.train;
  return {data.train.feature_count(),
          data.train.label_count(),
          slide::bounds_of(rows, config.train.block_size, config.layers.back().wide_features),
          false,
          data.train.samples(),
          rows.crosses.size(),
          look_at(config, data)};
}

std::optional<Sizes> find_sizes(const Config& config, const InspectCommand& command) {
  if (command.features > 0 && command.labels > 0) {
    Sizes sizes{command.features, command.labels, guessed_bounds(config)};
    sizes.crosses = std::min(kMaxCrosses, config.data.crosses * sizes.labels);
    return sizes;
  }
  std::error_code ignored;
  const std::string& train = config.data.train;
  if (train.empty() || (!is_file_list(train) && !std::filesystem::exists(train, ignored)))
    return std::nullopt;
  Config only_train = config;
  only_train.data.test.clear();
  return sizes_of_data(only_train, command.threads);
}

void print_unsized(const Config& config) {
  for (std::size_t l = 0; l < config.layers.size(); ++l) {
    const LayerConfig& layer = config.layers[l];
    const std::string size = layer.size == 0 ? "as many neurons as labels" : grouped(layer.size) + " neurons";
    print("layer {}: {}, {}\n", l, size, kind_text(layer, l + 1 == config.layers.size()));
  }
  print("memory             depends on the data: give --features D --labels L, or --set data.train=FILE\n");
}

std::string config_name(const Source& source) {
  const std::string& file = is_config(source) ? source.name : source.config;
  return file.empty() ? "the defaults" : file;
}

nlohmann::ordered_json json_of_config(const Source& source, const Config& config,
                                      const std::optional<Sizes>& sizes,
                                      const std::optional<MemoryPlan>& plan) {
  nlohmann::ordered_json json = {
      {"configuration", config_name(source)}, {"features", nullptr}, {"labels", nullptr}};
  if (sizes)
    json.update({{"features", sizes->features}, {"labels", sizes->labels}, {"pairs", sizes->crosses}});
  if (plan) json.update(json_of(config, *plan, sizes->guessed));
  if (sizes && sizes->data) json["data"] = json_of(*sizes->data);
  json["toml"] = to_toml(config);
  return json;
}

// Prints facts of the data or the configuration, then the plan of memory and the resolved configuration.
void inspect_config(const InspectCommand& command) {
  if (command.list_labels)
    return list_labels(resolve(command.source).config, {command.threads, command.strict, command.json});
  if (!command.show_labels.empty()) {
    fail_input("{}: --label needs a model, not data or a configuration; name the folder of a run",
               command.source.name);
  }
  const Config config = resolve(command.source).config;
  const int threads =
      resolve_threads(command.threads > 0 ? command.threads : static_cast<int>(config.train.threads));
  const std::optional<Sizes> sizes = find_sizes(config, command);
  std::optional<MemoryPlan> plan;
  if (sizes)
    plan = plan_memory(config, sizes->features + sizes->crosses, sizes->labels, sizes->bounds, threads);
  if (sizes && sizes->data) Warnings(command.strict).add(sizes->data->warnings);
  if (command.json) return print_text(text_of(json_of_config(command.source, config, sizes, plan)));
  const std::string name = config_name(command.source);
  const bool of_data = sizes && sizes->data && !command.source.name.empty() && !is_config(command.source);
  if (!of_data) print("configuration      {}\n", name);
  if (!plan) {
    print_unsized(config);
  } else {
    if (!sizes->guessed) {
      print("data.train         {} samples, {} features, {} labels\n", grouped(sizes->samples),
            grouped(sizes->features), grouped(sizes->labels));
    }
    if (sizes->data) print_data_look(*sizes->data);
    if (sizes->crosses > 0)
      print("feature crosses    {}{}\n", sizes->guessed ? "up to " : "", grouped(sizes->crosses));
    if (of_data) return print_short_plan(name, *plan);
    print_layers(config, *plan, true);
    print_memory(config, *plan, threads, sizes->guessed, true);
  }
  print_text('\n' + to_toml(config));
}

void run_inspect(const InspectCommand& command) {
  const Source& source = command.source;
  source.config.empty() && names_model(source.name) ? inspect_model(command) : inspect_config(command);
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  CLI::App* sub =
      app.add_subcommand("inspect", "Show a model, a configuration or data: layers, memory, labels");
  const auto command = std::make_shared<InspectCommand>();
  add_source(*sub, command->source, "SUBJECT",
             "Folder of a run, model file, configuration (TOML), or data to tell of the defaults for")
      ->type_name("RUN|MODEL|CONFIG|DATA");
  sub->add_option("--features", command->features,
                  "Configuration: features of the data; default: read data.train")
      ->transform(whole(1, kMaxItems))
      ->type_name("D");
  const auto take_labels = [command](const std::string& count) {
    command->list_labels = count.empty();
    if (!count.empty()) command->labels = static_cast<std::uint32_t>(std::stoul(count));
  };
  sub->add_option_function<std::string>(
         "--labels", take_labels,
         "Model or data: list the labels, with their samples. Configuration: how many "
         "labels the data have; default: read data.train")
      ->expected(0, 1)
      ->transform(whole_or_none(kMaxItems))
      ->type_name("[L]");
  sub->add_option(
         "--label", command->show_labels,
         "Model: nearest labels and strongest features of this label, by name or id; may be repeated")
      ->type_name("LABEL")
      ->allow_extra_args(false);
  sub->add_option("--k", command->k, "Model: so many of them")
      ->capture_default_str()
      ->transform(whole(1, kMaxK))
      ->type_name("K");
  add_threads(*sub, command->threads);
  add_strict(*sub, command->strict);
  sub->add_flag("--json", command->json, "Print one JSON object, sizes in bytes");
  sub->callback([command, &action] {
    require_source(command->source, "RUN, MODEL, CONFIG or DATA");
    action = [command] { run_inspect(*command); };
  });
}

}  // namespace slide::cli
