// Example: trains on data in memory, saves the model, loads it and predicts the best labels of a sample.
#include <slide/slide.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace api = slide::api;

int main() {
  // 2,000 samples in compressed sparse rows. Sample i has label i % 50 and matching features.
  std::vector<std::int64_t> offsets = {0}, label_offsets = {0};
  std::vector<std::int32_t> features, labels;
  std::vector<float> values;
  for (std::int32_t i = 0; i < 2000; ++i) {
    features.insert(features.end(), {i % 50, 50 + i % 7, 57 + i % 11});  // ids ascend
    values.insert(values.end(), {1.0F, 0.5F, 0.5F});
    offsets.push_back(static_cast<std::int64_t>(features.size()));
    labels.push_back(i % 50);
    label_offsets.push_back(static_cast<std::int64_t>(labels.size()));
  }
  const api::Data data =
      api::Data::from_csr({offsets, features, values.data(), 68}, {label_offsets, labels, nullptr, 50});

  const api::Config config = api::Config::from_toml(R"(
    layer = [{size = 16}, {kind = "sampled", uniform = 16, lsh = 16, hash = {k = 4, range_pow = 4}}]
    train = {epochs = 10}
  )");
  api::Callbacks callbacks;
  callbacks.epoch = [](const api::EpochSummary& e) { std::printf("epoch %u  loss %.4f\n", e.epoch, e.loss); };
  api::train(config, data, callbacks).save("example.slide", true);

  const api::Model model = api::Model::load("example.slide");
  api::PredictOptions options;
  options.k = 3;
  const std::vector<std::int64_t> one_row = {0, 3};
  const std::vector<std::int32_t> wanted = {7, 50, 57};
  const api::Predictions best =
      api::Predictor(model, options).predict(api::Data::from_csr({one_row, wanted}));
  for (std::size_t r = 0; r < best.k; ++r) std::printf("label %u  %.4f\n", best.labels[r], best.scores[r]);
  return best.labels[0] == 7 ? 0 : 1;
}
