// `slide bench-tables`: recall, time and memory of hash tables of several shapes over a trained model.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "datasets/reader.h"
#include "engine/base/error.h"
#include "engine/cli/commands.h"
#include "engine/cli/options.h"
#include "engine/cli/text.h"
#include "engine/config/spellings.h"
#include "engine/inference/table_bench.h"
#include "engine/run/model_use.h"
#include "engine/run/run_data.h"

namespace slide::cli {

namespace {

struct BenchCommand {
  std::string model, data;
  std::vector<std::string> families, candidates;  // empty: as in the model
  std::vector<std::uint32_t> k, tables;           // empty: as in the model
  std::uint64_t wanted = 264, samples = 512, block = 1;
  bool json = false;
  ModelUse use;
};

template <class E>
std::vector<E> named(const std::vector<std::string>& names, E own) {
  std::vector<E> values;
  for (const std::string& name : names) {
    const std::optional<E> value = from_spelling<E>(name);
    if (!value) fail_input("'{}' is no family of hash functions and no way to choose candidates", name);
    values.push_back(*value);
  }
  return values.empty() ? std::vector<E>{own} : values;
}

std::vector<std::uint32_t> numbers(const std::vector<std::uint32_t>& given, std::uint32_t own) {
  return given.empty() ? std::vector<std::uint32_t>{own} : given;
}

// Every combination of the given options; options that are not given keep the value of the model.
std::vector<HashConfig> shapes_of(const BenchCommand& command, const HashConfig& own) {
  std::vector<HashConfig> shapes;
  for (const HashFamily family : named(command.families, own.family)) {
    for (const CandidatePolicy candidates : named(command.candidates, own.candidates)) {
      for (const std::uint32_t k : numbers(command.k, own.k)) {
        for (const std::uint32_t tables : numbers(command.tables, own.tables)) {
          HashConfig& shape = shapes.emplace_back(own);
          shape.family = family;
          shape.candidates = candidates;
          shape.k = k;
          shape.tables = tables;
          if (!command.k.empty() || family != own.family) shape.range_pow = shape.bucket_capacity = 0;
        }
      }
    }
  }
  return shapes;
}

void print_head() {
  print("{:<8} {:<9} {:>3} {:>6} {:>9} {:>7} {:>8} {:>8} {:>9} {:>9} {:>10} {:>10}\n", "family", "candidates",
        "k", "tables", "recall@10", "found", "largest", "in full", "query us", "build ms", "rehash us",
        "memory");
}

void print_figures(const TableFigures& figures) {
  print("{:<8} {:<10} {:>2} {:>6} {:>9.3f} {:>7.0f} {:>7.2f}% {:>7.2f}% {:>9.1f} {:>9.1f} {:>10.2f} {:>10}\n",
        spelling(figures.config.family), spelling(figures.config.candidates), figures.config.k,
        figures.config.tables, figures.recall, figures.found, 100 * figures.largest, 100 * figures.in_full,
        1e6 * figures.query_seconds, 1e3 * figures.build_seconds, 1e6 * figures.rehash_seconds,
        memory_text(figures.bytes));
}

void print_json(const TableFigures& figures) {
  print(
      "{{\"family\": \"{}\", \"candidates\": \"{}\", \"k\": {}, \"tables\": {}, \"recall_at_10\": {:.4f}, "
      "\"found\": {:.1f}, \"largest_bucket\": {:.5f}, \"in_full_buckets\": {:.5f}, \"query_seconds\": "
      "{:.3e}, "
      "\"build_seconds\": {:.3e}, \"rehash_seconds\": {:.3e}, \"bytes\": {:.0f}}}\n",
      spelling(figures.config.family), spelling(figures.config.candidates), figures.config.k,
      figures.config.tables, figures.recall, figures.found, figures.largest, figures.in_full,
      figures.query_seconds, figures.build_seconds, figures.rehash_seconds, figures.bytes);
}

void run_bench_tables(const BenchCommand& command) {
  const Model model = open_model(command.model, command.use);
  const std::vector<HashConfig> shapes = shapes_of(command, model.config.layers.back().hash);
  for (const HashConfig& shape : shapes) check_hash_config(shape);
  const TestData data = read_test_data(command.data, model, command.use.threads);
  const TableBench bench(model.network, data.rows, command.samples);
  if (!command.json) {
    print("{} neurons, {} samples, {} of them ask at a time for {} neurons; one thread\n",
          grouped(model.network.labels()), grouped(bench.samples()), command.block, grouped(command.wanted));
    print_head();
  }
  for (const HashConfig& shape : shapes) {
    const TableFigures figures = bench.measure(shape, command.wanted, command.block);
    command.json ? print_json(figures) : print_figures(figures);
  }
}

}  // namespace

void add_bench_tables(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("bench-tables", "Measure hash tables of several shapes over a model");
  sub->footer(
      "Builds tables over the output layer for each combination of the shapes given, asks them with samples\n"
      "of DATA, and prints how many of the ten neurons that fire most for a sample they find, how evenly "
      "they\n"
      "are filled, and what a query, building them and hashing a row again take on one thread.");
  const auto command = std::make_shared<BenchCommand>();
  sub->add_option("MODEL", command->model, "Folder of a run, or its model.slide")->required();
  sub->add_option("DATA", command->data, "Samples that ask")->required();
  const auto words = [&](const char* name, const char* meaning, std::vector<std::string>& to,
                         const std::vector<std::string>& all) {
    add_list(*sub, name, meaning, CLI::IsMember(all), [&to](const auto& values) { to = values; });
  };
  words("--family", "Hash functions, with commas between; default: the model's", command->families,
        {"simhash", "wta", "dwta", "minhash"});
  words("--candidates", "How they are asked; default: the model's", command->candidates,
        {"vanilla", "topk", "threshold", "search"});
  const auto counts = [&](const char* name, const char* meaning, std::uint64_t low, std::uint64_t high,
                          std::vector<std::uint32_t>& to) {
    add_list(*sub, name, meaning, whole(low, high), [&to](const auto& values) {
      for (const std::string& value : values) to.push_back(static_cast<std::uint32_t>(std::stoul(value)));
    });
  };
  counts("--k", "Hash functions in a fingerprint, 0 = by the number of neurons; default: the model's", 0,
         kMaxCodes, command->k);
  counts("--tables", "Hash tables; default: the model's", 1, 1024, command->tables);
  sub->add_option("--wanted", command->wanted, "Neurons to ask for")->check(whole(1, kMaxItems));
  sub->add_option("--samples", command->samples, "Samples of DATA that ask")->check(whole(1, kMaxItems));
  sub->add_option("--block", command->block, "Samples that ask together")->check(whole(1, 1024));
  sub->add_flag("--json", command->json, "A line of JSON for each shape");
  add_format(*sub, "--format", "Format of DATA; default: found from its content", command->use.format);
  sub->callback([command, &action] { action = [command] { run_bench_tables(*command); }; });
}

}  // namespace slide::cli
