#include "tests/fuzz/served_models.h"

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/tiny_models.h"

namespace slide::fuzz {

namespace {

std::shared_ptr<const serve::ServedModel> load(const std::string& path) {
  serve::ServedModel::Options options;
  options.path = path;
  options.inference = Inference::kLsh;
  options.threads = 1;
  return std::make_shared<const serve::ServedModel>(options);
}

}  // namespace

const std::array<std::shared_ptr<const serve::ServedModel>, 2>& served_models() {
  static const auto models = [] {
    const Folder folder;
    const Config config = tiny_config();
    save_feature_model(folder.path("features"), config);
    save_text_model(folder.path("text"), config);
    return std::array{load(folder.path("features")), load(folder.path("text"))};
  }();
  return models;
}

}  // namespace slide::fuzz
