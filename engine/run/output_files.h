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
};

// Throws InputError where an output is a file of `inputs` (paths as for files_read(), compared by identity)
// or where two outputs are one file. Pipes and devices may be both.
void check_outputs(std::span<const OutputFile> outputs, std::span<const std::string> inputs);

// The same for a model file built from `inputs`; also requires that `out` is given. `example`: a file name
// for the message.
void check_model_out(const OutputFile& out, std::span<const std::string> inputs, const char* example);

}  // namespace slide
