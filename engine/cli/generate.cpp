#include "datasets/generator.h"

#include "engine/cli/commands.h"
#include "engine/cli/text.h"

namespace slide::cli {

void run_generate(const GenerateCommand& command) {
  generate_dataset(command.options, command.out);
  const GeneratorOptions& options = command.options;
  print("wrote {}/train.txt ({} samples) and test.txt ({} samples): {} features, {} labels\n", command.out,
        grouped(options.samples), grouped(options.test_samples.value_or(options.samples / 10)),
        grouped(options.features), grouped(options.labels));
}

void run_config_doc() {
  print_text(config_reference());
}

}  // namespace slide::cli
