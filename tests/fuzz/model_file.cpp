// Fuzz target: a model file; a loaded model predicts in all ways. summed_mutator.cpp keeps its checksum
// valid.
#include "engine/model/model_file.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slide;
  using namespace slide::fuzz;
  static const MemoryFile file;
  file.write(text_of(data, size));
  std::optional<Model> model;
  if (!accepted([&] { model = load_model(file.path()); })) return 0;
  accepted([&] { load_model(file.path(), LoadOptimizer::kYes); });
  for (const std::string& note : model->notes) check_message(note);
  accepted([&] { predict(*model); });
  return 0;
}
