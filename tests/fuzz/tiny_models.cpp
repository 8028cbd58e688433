#include "tests/fuzz/tiny_models.h"

#include "datasets/rows/csr_sink.h"
#include "datasets/text/labelled_text.h"
#include "datasets/text_learner.h"
#include "engine/model/model_file.h"
#include "engine/training/trainer.h"
#include "tests/fuzz/fuzz.h"

namespace slide::fuzz {

namespace {

void save(const std::string& path, const Config& config, const Dataset& data, const TextModel* text) {
  Trainer trainer(fresh_job(config, data));
  trainer.step(0, trainer.labelled());
  save_model(path, {config, trainer.shape(), trainer.trained(), &trainer.training().optimizer_state(),
                    trainer.steps(), text});
}

}  // namespace

void save_feature_model(const std::string& path, const Config& config) {
  save(path, config, tiny_data(), nullptr);
}

void save_text_model(const std::string& path, const Config& config) {
  const TextSource source{kTinyText, "tiny"};
  const auto text = learn_text(source, config.text, 1);
  ReadOptions options;
  options.threads = 1;
  MemorySink sink;
  const CsrSizes sizes = parse_labelled_text(source, *text, options, sink);
  save(path, config, sink.take(sizes, options), text.get());
}

}  // namespace slide::fuzz
