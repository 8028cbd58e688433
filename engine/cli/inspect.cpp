// `slide inspect`: what a model or a configuration is.
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <system_error>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/cli/commands.h"
#include "engine/cli/inspect_label.h"
#include "engine/cli/options.h"
#include "engine/cli/text.h"
#include "engine/network/memory_plan.h"
#include "engine/run/model_file.h"
#include "engine/run/run_data.h"

namespace slide::cli {

namespace {

struct InspectCommand {
  std::string subject;  // a model or a configuration
  std::vector<std::string> set;
  std::uint32_t features = 0;  // configuration: sizes of the data, 0 = read data.train
  std::uint32_t labels = 0;
  std::vector<std::string> show_labels;  // model: labels to tell about, by name or id
  std::uint32_t k = 10;                  // nearest labels and strongest features of each
  int threads = 0;
};

// What a sample is taken to hold at most where there is no data to look at.
constexpr std::size_t kGuessedFeatures = 200, kGuessedLabels = 10;

struct Sizes {
  std::size_t features = 0;
  std::size_t labels = 0;
  BlockBounds bounds;
  bool guessed = true;  // the bounds
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

void print_layers(const Config& config, const MemoryPlan& plan) {
  print("{:>5} {:>11} {:>11} {:>15} {:>10} {:>10} {:>10}  {}\n", "layer", "inputs", "neurons", "parameters",
        "weights", "optimizer", "tables", "kind");
  for (std::size_t l = 0; l < plan.layers.size(); ++l) {
    const LayerPlan& layer = plan.layers[l];
    print("{:>5} {:>11} {:>11} {:>15} {:>10} {:>10} {:>10}  {}\n", l, grouped(layer.inputs),
          grouped(layer.neurons), grouped(static_cast<std::uint64_t>(layer.parameters)),
          memory_text(layer.weights), memory_text(layer.state), memory_text(layer.tables),
          kind_text(config.layers[l], l + 1 == plan.layers.size()));
  }
}

void print_memory(const Config& config, const MemoryPlan& plan, int threads, bool guessed) {
  print("parameters         {}\n", grouped(static_cast<std::uint64_t>(plan.parameters())));
  print("weights            {}\n", memory_text(plan.weights()));
  print("optimizer state    {}\n", memory_text(plan.state()));
  print("tables             {} (estimate)\n", memory_text(plan.tables()));
  if (plan.neighbours > 0) {
    print("neighbours         {}\n", memory_text(plan.neighbours));
  } else if (config.neighbours.share > 0) {
    print("neighbours         some 12 bytes for each feature of each training sample, not counted below\n");
  }
  print("workspaces         {} (estimate, {} threads{})\n", memory_text(plan.workspaces()), threads,
        guessed ? fmt::format(", samples of up to {} features", kGuessedFeatures) : "");
  print("training           {} beside the data\n", memory_text(plan.training()));
  print("inference          {}, with tables {}\n", memory_text(plan.weights() + plan.neighbours),
        memory_text(plan.weights() + plan.neighbours + plan.tables()));
}

void print_tables(std::size_t number, const lsh::NeuronIndex& index) {
  const lsh::Occupancy o = index.occupancy();
  const auto percent = [&](std::size_t part) {
    return o.buckets == 0 ? 0.0 : 100.0 * double(part) / double(o.buckets);
  };
  print("layer {}: {} tables, {} buckets in all, {:.1f}% used, {:.1f}% full\n", number, index.config().tables,
        grouped(o.buckets), percent(o.used_buckets), percent(o.full_buckets));
  print("         {} entries, {:.1f} in a used bucket, largest bucket hashed to by {} neurons, {}\n",
        grouped(o.stored), o.mean_used, grouped(o.largest_bucket), memory_text(double(index.bytes())));
}

void inspect_model(const InspectCommand& command) {
  Model model = load_model(command.subject);
  tell(model.notes);
  if (!command.show_labels.empty()) {
    for (const std::string& label : command.show_labels) print_label(model, label, command.k);
    return;
  }
  const int threads = resolve_threads(command.threads);
  const DataShape& shape = model.shape;
  print("model              {}, format {}, after {} steps\n", command.subject, kModelVersion,
        grouped(model.steps));
  print("trained on         {} samples, {} features, {} labels\n", grouped(shape.samples),
        grouped(shape.features), grouped(shape.labels));
  if (model.config.data.idf_power != 0)
    print("feature values     times their rarity to the power {}\n", model.config.data.idf_power);
  if (model.text != nullptr) {
    print("text               {}, vocabulary and names of labels in the file\n",
          model.text->form() == TextForm::kTabs ? "labels<TAB>text" : "__label__NAME text");
  }
  BlockBounds bounds = guessed_bounds(model.config);
  if (const auto& neighbours = model.neighbours) {
    bounds.samples = neighbours->samples();
    bounds.all_features = neighbours->storage().features.size();
    bounds.all_labels = neighbours->storage().labels.size();
    print("neighbours         {} of {} samples have {:.0f}% of the vote\n", model.config.neighbours.count,
          grouped(neighbours->samples()), 100.0 * model.config.neighbours.share);
  }
  print("optimizer state    {} in the file\n", model.has_optimizer_state ? "is" : "is not");
  const MemoryPlan plan = plan_memory(model.config, shape.features, shape.labels, bounds, threads);
  print_layers(model.config, plan);
  print_memory(model.config, plan, threads, true);
  model.build_tables(threads);
  const auto& layers = model.network.layers();
  const std::size_t first = model.config.layers.size() - layers.size();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (layers[l].index() != nullptr) print_tables(first + l, *layers[l].index());
  }
}

Sizes sizes_of_data(const Config& config, int threads) {
  const RunData data = read_run_data(config, threads);
  print("data.train         {} samples, {} features, {} labels\n", grouped(data.train.size()),
        grouped(data.train.feature_count()), grouped(data.train.label_count()));
  return {data.train.feature_count(), data.train.label_count(),
          bounds_of(data.train, config.train.block_size), false};
}

std::optional<Sizes> find_sizes(const Config& config, const InspectCommand& command) {
  if (command.features > 0 && command.labels > 0) {
    return Sizes{command.features, command.labels, guessed_bounds(config)};
  }
  std::error_code ignored;
  if (config.data.train.empty() || !std::filesystem::exists(config.data.train, ignored)) return std::nullopt;
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

void inspect_config(const InspectCommand& command) {
  if (!command.show_labels.empty()) {
    fail_input("{}: --label needs a model, not a configuration; name the model.slide of a run",
               command.subject);
  }
  const Config config = load_config(command.subject, command.set);
  print("configuration      {}\n", command.subject);
  const int threads =
      resolve_threads(command.threads > 0 ? command.threads : static_cast<int>(config.train.threads));
  if (const std::optional<Sizes> sizes = find_sizes(config, command)) {
    const MemoryPlan plan = plan_memory(config, sizes->features, sizes->labels, sizes->bounds, threads);
    print_layers(config, plan);
    print_memory(config, plan, threads, sizes->guessed);
  } else {
    print_unsized(config);
  }
  print("\n{}", to_toml(config));
}

// Text has no zero bytes.
bool is_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(4096, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return start.find('\0') >= static_cast<std::size_t>(file.gcount());
}

void run_inspect(const InspectCommand& command) {
  const bool model_name = command.subject.ends_with(".slide");
  if (model_name || looks_like_model(command.subject) || !is_text(command.subject)) {
    inspect_model(command);
  } else {
    inspect_config(command);
  }
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  CLI::App* sub =
      app.add_subcommand("inspect", "Tell what a model or a configuration is: layers, memory, tables");
  const auto command = std::make_shared<InspectCommand>();
  sub->add_option("SUBJECT", command->subject, "model.slide of a run, or a configuration file")
      ->type_name("MODEL|CONFIG")
      ->required();
  add_set(*sub, command->set);
  sub->add_option("--features", command->features,
                  "Configuration: features of the data; default: read data.train")
      ->transform(whole(1, kMostItems))
      ->type_name("D");
  sub->add_option("--labels", command->labels, "Configuration: labels of the data; default: read data.train")
      ->transform(whole(1, kMostItems))
      ->type_name("L");
  sub->add_option(
         "--label", command->show_labels,
         "Model: nearest labels and strongest features of this label, by name or id; may be repeated")
      ->type_name("LABEL")
      ->allow_extra_args(false);
  sub->add_option("--k", command->k, "Model: so many of them")
      ->capture_default_str()
      ->transform(whole(1, kMostK))
      ->type_name("K");
  add_threads(*sub, command->threads);
  sub->callback([command, &action] { action = [command] { run_inspect(*command); }; });
}

}  // namespace slide::cli
