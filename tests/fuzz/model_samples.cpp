#include "tests/fuzz/model_samples.h"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>

#include "engine/base/error.h"
#include "tests/fuzz/model_uses.h"

namespace slide::fuzz {

namespace {

constexpr int kSamples = 96, kColumns = 6;

struct Recipe {
  std::string name;
  std::string data;                   // file in the folder
  std::vector<std::string> settings;  // of --set
};

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> recipes = {
      {"features", "features.txt", {"data.idf_power=0.5"}},
      {"bf16",
       "features.txt",
       {"data.crosses=0", "train.weights=bf16", "neighbours.share=0", "loss.kind=softmax",
        "layer.1.wide=false", "layer.1.lsh=4", "layer.1.uniform=0", "layer.1.frequency=4",
        "layer.1.hash.tables=2", "optimizer.kind=adam"}},
      {"text", "text.txt", {"text.min_count=1", "text.hash_buckets=8"}},
      {"interactions", "interactions.txt", {"data.kind=interactions"}},
      {"dense", "X.dense.npy", {"optimizer.kind=momentum"}}};
  return recipes;
}

// Labels that pairs of features tell, not single ones: so that there are feature crosses.
std::string feature_rows() {
  std::string rows = fmt::format("{} 12 4\n", kSamples);
  for (int i = 0; i < kSamples; ++i) {
    const int a = i % 4, b = i / 4 % 4;
    rows += fmt::format("{} {}:1 {}:1 {}:0.5\n", (a + b) % 4, a, 4 + b, 8 + i % 3);
  }
  return rows;
}

std::string text_rows() {
  std::string rows;
  for (int i = 0; i < kSamples / 8; ++i)
    rows +=
        "gärten\troses and tulips\nmusic\ta violin, a cello\ndeep \"learning\"\tnetworks of neurons\n"
        "gärten,music\ttulips and a choir\n";
  return rows;
}

std::string interaction_rows() {
  std::string rows;
  for (int user = 0; user < kSamples / 4; ++user)
    rows += fmt::format("u{} i{} i{} i{}\n", user, user % 4, 4 + user % 3, 7 + user % 2);
  return rows;
}

// The bytes of numpy.save for a matrix.
std::string npy(std::size_t rows, std::size_t columns) {
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  header.append(63 - (10 + header.size()) % 64, ' ').push_back('\n');
  const auto length = static_cast<std::uint16_t>(header.size());
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8);
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length).append(header);
  for (std::size_t i = 0; i < rows * columns; ++i) {
    const float value = static_cast<float>(i * 37 % 17) / 20.0F;
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

std::string write_dense(const std::string& folder, const std::string& name, std::size_t rows,
                        std::size_t columns, std::uint64_t labels) {
  std::string ids;
  for (std::size_t i = 0; i < rows; ++i) ids += fmt::format("{}\n", i % labels);
  write_bytes(folder + "/Y." + name + ".txt", ids);
  write_bytes(folder + "/X." + name + ".npy", npy(rows, columns));
  return folder + "/X." + name + ".npy";
}

void must(const std::vector<std::string>& words, int messages_file) {
  std::string messages;
  if (run_command(words, messages_file, messages) != 0) fail_run("slide {}: {}", words.front(), messages);
}

void train(const Recipe& recipe, const std::string& folder, int messages_file) {
  std::vector<std::string> words = {"train",
                                    folder + "/" + recipe.data,
                                    "--threads",
                                    "1",
                                    "--epochs",
                                    "2",
                                    "--quiet",
                                    "--set",
                                    "layer.0.size=4",
                                    "--out",
                                    folder + "/" + recipe.name};
  for (const std::string& setting : recipe.settings) words.insert(words.end(), {"--set", setting});
  must(words, messages_file);
}

// Text or items of a model: names of its own labels.
std::string named_rows(const std::string& file, const Layout& layout) {
  std::string rows;
  std::size_t user = 0;
  for (std::size_t f = layout.first_label_name; f < layout.fields.size() && user < 16; ++f) {
    const Field& field = layout.fields[f];
    if (field.kind != Kind::kBytes) continue;
    const std::string name = file.substr(field.at, field.bytes());
    switch (layout.text_form) {
      case 0:
        rows += fmt::format("__label__{} a choir of {}\n", name, name);
        break;
      case 1:
        rows += fmt::format("{}\ta choir of {}\n", name, name);
        break;
      case 2:
        rows += fmt::format("u{} {}\n", user, name);
        break;
      default:
        rows += fmt::format("u{}\t{}\n", user, name);
        break;
    }
    ++user;
  }
  return rows;
}

}  // namespace

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

const std::vector<std::string>& model_kinds() {
  static const std::vector<std::string> kinds = [] {
    std::vector<std::string> names;
    for (const Recipe& recipe : recipes()) names.push_back(recipe.name);
    names.insert(names.end(), {"features-small-bf16", "features-small-int8", "dense-small-int8",
                               "features-small-thresholds", "features-small-calibrated"});
    return names;
  }();
  return kinds;
}

void make_models(const std::string& folder, int messages_file) {
  write_bytes(folder + "/features.txt", feature_rows());
  write_bytes(folder + "/text.txt", text_rows());
  write_bytes(folder + "/interactions.txt", interaction_rows());
  write_dense(folder, "dense", kSamples, kColumns, 3);
  for (const Recipe& recipe : recipes()) train(recipe, folder, messages_file);
  must({"convert", folder + "/features", folder + "/features-small-bf16", "--weights", "bf16"},
       messages_file);
  must({"convert", folder + "/features", folder + "/features-small-int8", "--weights", "int8"},
       messages_file);
  must({"convert", folder + "/dense", folder + "/dense-small-int8", "--weights", "int8"}, messages_file);
  write_bytes(folder + "/thresholds.json",
              R"({"threshold":0.3,"labels":[{"id":1,"threshold":0.4},{"id":3,"threshold":0.2}]})");
  must({"convert", folder + "/features", folder + "/features-small-thresholds", "--threshold",
        folder + "/thresholds.json"},
       messages_file);
  must({"convert", folder + "/features", folder + "/features-small-calibrated", "--calibrate",
        folder + "/features.txt"},
       messages_file);
}

std::vector<TrainedModel> models_in(const std::string& folder) {
  std::vector<TrainedModel> models;
  for (const std::string& name : model_kinds()) {
    const bool small = name.find("-small") != std::string::npos;
    const std::string trained = name.substr(0, name.find("-small"));
    for (const Recipe& recipe : recipes())
      if (recipe.name == trained)
        models.push_back(
            {name, folder + "/" + name + (small ? "" : "/model.slide"), folder + "/" + recipe.data});
  }
  return models;
}

std::string write_samples(const std::string& folder, const std::string& file, const Layout& layout) {
  const std::string path = folder + "/samples.txt";
  if ((layout.flags & kText) != 0) {
    write_bytes(path, named_rows(file, layout));
    return path;
  }
  if ((layout.flags & kDense) != 0) return write_dense(folder, "samples", 16, layout.features, layout.labels);
  std::string rows = fmt::format("16 {} {}\n", layout.features, layout.labels);
  for (std::uint64_t i = 0; i < 16; ++i)
    rows += fmt::format("{} {}:1\n", i * 7 % layout.labels, i * 13 % layout.features);
  write_bytes(path, rows);
  return path;
}

}  // namespace slide::fuzz
