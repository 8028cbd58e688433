// `slide vectors`: vectors learnt by a model, for other programs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/cli/bad_rows.h"
#include "engine/cli/commands.h"
#include "engine/cli/line_source.h"
#include "engine/cli/options.h"
#include "engine/cli/ranks.h"
#include "engine/cli/sample_input.h"
#include "engine/cli/text.h"
#include "engine/cli/warnings.h"
#include "engine/model/output_files.h"
#include "engine/run/label_view.h"
#include "engine/run/model_use.h"
#include "engine/run/vectors.h"

namespace slide::cli {

namespace {

struct VectorsCommand {
  std::string model, data;
  std::string of;  // samples, labels or features; empty: samples where there is data, else labels
  std::string out, names;
  bool skip_bad = false;
  bool strict = false;
  ModelUse use;
};

void print_piece(std::string_view text) {
  print("{}", text);
}

// One vector per line of the data; zeros for a malformed line.
void write_samples(const VectorsCommand& command, const Model& model, Cluster& cluster) {
  const std::size_t width = vector_width(model);
  VectorWriter writer(command.out, width, print_piece);
  BadRows bad;
  Unknown unknown;
  Warnings warnings(command.strict);
  const SampleInput input(model, command.use, command.data, cluster);
  input.for_each_part([&](const RowPart& part) {
    warnings.add(part.warnings);
    if (!part.bad.empty() && !command.skip_bad) throw InputError(part.faults.front());
    std::vector<float> vectors(part.rows.size() * width);
    sample_vectors(model, part.rows, command.use.threads, vectors.data());
    for (const std::uint64_t row : part.bad)
      std::fill_n(vectors.begin() + static_cast<std::ptrdiff_t>(row * width), width, 0.0F);
    for (std::size_t i = 0; i < part.rows.size(); ++i)
      writer.add({}, std::span<const float>(vectors).subspan(i * width, width));
    bad.add(part.bad.size(), part.faults);
    unknown.features += part.unknown_features;
    unknown.all_features += part.unknown_features + part.rows.feature_entries();
  });
  writer.finish();
  report_unknown(unknown, command.data == "-" ? kStandardInput : command.data, 0, FeatureKind::kNumbers,
                 warnings);
  bad.end();
}

// Writes vectors of labels or features, with ids and possibly names.
template <class Name, class Fill>
void write_known(const VectorsCommand& command, std::size_t count, std::size_t width, const Name& name_of,
                 const Fill& fill) {
  VectorWriter writer(command.out, width, print_piece);
  writer.head(count);
  std::vector<float> vector(width);
  std::string names;
  for (std::uint32_t id = 0; id < count; ++id) {
    fill(id, std::span<float>(vector));
    const std::string name = name_of(id);
    writer.add(name, vector);
    if (!command.names.empty()) names += name + '\n';
  }
  writer.finish();
  if (!command.names.empty()) write_file(command.names, names);
}

void check_vectors(const VectorsCommand& command, const std::string& of) {
  if (of == "samples" && command.data.empty())
    fail_input("--of samples: of which? name the data after the model");
  if (of != "samples" && !command.data.empty())
    fail_input("--of {}: these are of the model alone; leave {} out", of, command.data);
  if (!command.names.empty() && of == "samples")
    fail_input("--names: samples have no names; those of labels and features are written");
}

void run_vectors(const VectorsCommand& command, Cluster& cluster) {
  if (cluster.size() > 1)
    fail_input("slide vectors runs in one process, which reads the whole model; leave the launcher out");
  const std::string of = !command.of.empty() ? command.of : command.data.empty() ? "labels" : "samples";
  check_vectors(command, of);
  check_outputs(std::array{OutputFile{"--out", command.out}, OutputFile{"--names", command.names}},
                std::array{command.model, command.data});
  const Model model = open_model(command.model, command.use);
  print_notes(model.notes);
  if (of == "samples") return write_samples(command, model, cluster);
  if (of == "labels") {
    return write_known(
        command, model.network.labels(), vector_width(model),
        [&](std::uint32_t id) { return label_text(model, id); },
        [&](std::uint32_t id, std::span<float> vector) { label_vector(model, id, vector); });
  }
  write_known(
      command, model.network.sample_features(), feature_width(model),
      [&](std::uint32_t id) { return feature_text(model, id); },
      [&](std::uint32_t id, std::span<float> vector) { feature_vector(model, id, vector); });
}

}  // namespace

void add_vectors(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("vectors", "Write vectors of samples, labels or features");
  sub->footer(
      "With DATA, the hidden activations of each sample, a line each; else the output weights of each\n"
      "label, whose product with a sample's vector is a part of its score. --out FILE.npy is a matrix of\n"
      "float32; any other name, or standard output, is text: of samples the numbers, of labels and\n"
      "features the format of word2vec, with '_' for blanks in names.");
  const auto command = std::make_shared<VectorsCommand>();
  sub->add_option("MODEL", command->model, "Folder of a run, or a model file")->required();
  sub->add_option("DATA", command->data, "Samples, or - for standard input");
  sub->add_option("--of", command->of, "Whose vectors; default: samples with DATA, else labels")
      ->check(CLI::IsMember({"samples", "labels", "features"}))
      ->type_name("samples|labels|features");
  sub->add_option("--out", command->out, "File to write; default: standard output")->type_name("FILE");
  sub->add_option("--names", command->names, "Also write the names of labels or features, a line each")
      ->type_name("FILE");
  add_format(*sub, "--format", "Format of DATA; default: found from its content", command->use.format);
  add_skip_bad(*sub, command->skip_bad);
  add_strict(*sub, command->strict);
  add_threads(*sub, command->use.threads);
  sub->callback([command, &action] {
    action = [command] {
      run_together("vectors", [&](Cluster& cluster) { run_vectors(*command, cluster); });
    };
  });
}

}  // namespace slide::cli
