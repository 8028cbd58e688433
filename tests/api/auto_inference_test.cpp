// `eval.inference = "auto"` in the library: the answers of what it stands for.
#include <gtest/gtest.h>

#include <slide/slide.h>

#include "tests/cli/program.h"

namespace slide::api {
namespace {

TEST(ApiAutoInference, AnswersByTablesFromTheBoundOnAndByAllNeuronsBelow) {
  const test::Program files;
  const Config config = Config::from_toml("", {"layer.0.size=16", "layer.-1.init_scale=1.0",
                                               "neighbours.share=0.0", "train.epochs=1", "train.threads=2"});
  for (const std::uint32_t labels : {100000U, 99999U}) {
    ASSERT_EQ(files
                  .run({"generate", "--samples", "300", "--features", "120", "--labels",
                        std::to_string(labels), "--out", "d"})
                  .code,
              0);
    const Data data = Data::read(files.path("d/train.txt"), config);
    const Model model = train(config, data);
    const auto ask = [&](Inference inference, std::size_t k) {
      PredictOptions options;
      options.inference = inference, options.k = k, options.threads = 1;
      return Predictor(model, options).predict(data);
    };
    const Inference by = labels == 100000 ? Inference::kLsh : Inference::kFull;
    for (const Inference asked : {Inference::kConfigured, Inference::kAuto}) {
      EXPECT_EQ(ask(asked, 5).labels, ask(by, 5).labels);
      EXPECT_EQ(ask(asked, 5).scores, ask(by, 5).scores);
      EXPECT_EQ(ask(asked, 100).labels, ask(Inference::kFull, 100).labels);
    }
  }
}

}  // namespace
}  // namespace slide::api
