// Fuzz target: a checkpoint of a run on tiny data; a restored trainer continues training. summed_mutator.cpp
// keeps its checksum valid.
#include "engine/run/checkpoint.h"

#include "engine/training/trainer.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slide;
  using namespace slide::fuzz;
  static const MemoryFile file;
  static const Dataset rows = tiny_data();
  static const Config config = tiny_config();
  file.write(text_of(data, size));
  accepted([&] {
    const Checkpoint checkpoint(file.path());
    check_same_config(checkpoint.record().config, config, "input");
    if (checkpoint.record().step_samples > rows.size() || checkpoint.record().train != digest_of(rows))
      return;
    Trainer trainer(resumed_job(config, rows, checkpoint.record().step_samples));
    checkpoint.restore(trainer);
    try {
      trainer.run({});
    } catch (const InputError&) {
      throw;
    } catch (const Error&) {  // the loss became NaN
    }
  });
  return 0;
}
