#include "engine/cli/inspect_label.h"

#include "engine/base/foreign_text.h"
#include "engine/cli/text.h"
#include "engine/run/label_view.h"

namespace slide::cli {

void print_labels(const Model& model) {
  for (std::uint32_t label = 0; label < model.shape.labels; ++label)
    print("{}\t{}\n", model.shape.label_frequencies[label], label_text(model, label));
}

void print_label(const Model& model, const std::string& name, std::size_t count) {
  const std::uint32_t label = find_label(model, name);
  print("label {}: id {}, {} training samples\n", label_text(model, label), label,
        grouped(model.shape.label_frequencies[label]));
  print("nearest labels, by the cosine of their output weights\n");
  for (const Related& other : nearest_labels(model.network, label, count)) {
    print("{:>9.4f}  {}\n", other.score, label_text(model, other.id));
  }
  if (!has_feature_weights(model.network)) {
    print(
        "strongest features: the model has no linear term (layer.-1.wide), so no weights of its own for a "
        "feature\n");
    return;
  }
  print("strongest features, by their weight on the linear term\n");
  for (const Related& feature : strongest_features(model.network, label, count)) {
    print("{:>9.4f}  {}\n", feature.score, shown_part(feature_text(model, feature.id)));
  }
}

}  // namespace slide::cli
