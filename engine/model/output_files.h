// Checks that the outputs of a command replace neither its inputs nor each other. Functions are safe from any
// thread.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace slide {

// The files of a data path, a model or a run folder, including label files beside them; "-" is standard
// input. Empty for an empty path.
std::vector<std::string> files_read(const std::string& path);

// An output file and the option that names it; an empty path: none.
struct OutputFile {
  const char* option;
  std::string path;
  bool makes_folder = false;  // the command makes the folder of the file
};

// Throws InputError where an output is one of the files of `inputs` (paths as files_read() takes them), also
// under another name; where two outputs are one file; where an output replaces a model without
// `replace_models`; and where the folder of an output does not exist. Pipes and devices may be both input and
// output.
void check_outputs(std::span<const OutputFile> outputs, std::span<const std::string> inputs,
                   bool replace_models = false);

// The same for a model file that a command makes from `inputs`; `out` must name a file, no folder. `example`:
// a name that the message suggests. `replace`: the file may replace another model.
void check_model_out(const OutputFile& out, std::span<const std::string> inputs, const char* example,
                     bool replace);

}  // namespace slide
