#include "engine/model/output_files.h"

#include <filesystem>
#include <system_error>

#include "datasets/formats/dense_data.h"
#include "datasets/rows/data_parts.h"
#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/model/model_input.h"
#include "engine/model/registry.h"
#include "engine/model/run_paths.h"

namespace slide {

namespace {

namespace fs = std::filesystem;

bool is_one_file(const std::string& a, const std::string& b) {
  if (is_pipe_or_device(a) || is_pipe_or_device(b)) return false;
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  return fs::weakly_canonical(fs::absolute(a), error) == fs::weakly_canonical(fs::absolute(b), error);
}

// Throws where the folder of the output does not exist: before work whose result could not be written.
void check_folder(const OutputFile& output) {
  std::error_code ignored;
  const fs::path folder = fs::path(output.path).parent_path();
  if (output.makes_folder || folder.empty() || fs::status(folder, ignored).type() != fs::file_type::not_found)
    return;
  fail_input(
      "{}: cannot be created, for the folder {} does not exist; make it first, or give {} another name",
      output.path, folder.string(), output.option);
}

// Throws where the output is one of the files that are read, compared as files, not by path.
void check_output(const OutputFile& output, std::span<const std::string> inputs) {
  std::error_code ignored;
  if (!fs::is_regular_file(output.path, ignored)) return;
  for (const std::string& input : inputs) {
    for (const std::string& file : files_read(input)) {
      if (fs::equivalent(output.path, file, ignored)) {
        fail_input("{}: {} names one of the files that are read; give what is written another name",
                   output.path, output.option);
      }
    }
  }
}

// `way`: how to replace it after all, or empty.
void check_no_model(const OutputFile& output, const char* way) {
  std::error_code ignored;
  if (!fs::is_regular_file(output.path, ignored) || !looks_like_model(output.path)) return;
  fail_input("{}: {} names a model that is there; give what is written another name{}", output.path,
             output.option, way);
}

void check_each(std::span<const OutputFile> outputs, std::span<const std::string> inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].path.empty()) continue;
    check_folder(outputs[i]);
    check_output(outputs[i], inputs);
    for (const OutputFile& other : outputs.first(i)) {
      if (!other.path.empty() && is_one_file(other.path, outputs[i].path))
        fail_input("{}: {} and {} name one file; give them two", outputs[i].path, other.option,
                   outputs[i].option);
    }
  }
}

std::vector<std::string> files_of_registry(const std::string& folder) {
  std::vector<std::string> files = {registry_log(folder)};
  for (const std::string& name : registry_names(folder)) files.push_back(registry_file(folder, name));
  return files;
}

}  // namespace

std::vector<std::string> files_read(const std::string& path) {
  if (path.empty()) return {};
  if (path == "-") return {"/dev/stdin"};
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    if (is_registry(path)) return files_of_registry(path);
    const RunPaths run(path);
    return {run.model(),      run.best_model(), run.config(),     run.log(),
            run.checkpoint(), run.start(),      run.environment()};
  }
  std::vector<std::string> files;
  for (std::string& part : parts_of(path)) {
    if (!is_file_list(part)) files.push_back(labels_file_of(part));
    for_each_file(part, [&](const std::string& file) { files.push_back(file); });
  }
  return files;
}

void check_outputs(std::span<const OutputFile> outputs, std::span<const std::string> inputs,
                   bool replace_models) {
  check_each(outputs, inputs);
  if (replace_models) return;
  for (const OutputFile& output : outputs) check_no_model(output, ", or remove the model");
}

void check_model_out(const OutputFile& out, std::span<const std::string> inputs, const char* example,
                     bool replace) {
  std::error_code ignored;
  if (fs::is_directory(out.path, ignored))
    fail_input("{}: this is a folder; name the file to write, as {}", out.path,
               (fs::path(out.path) / example).string());
  if (is_pipe_or_device(out.path))
    fail_input("{}: this is a pipe or a device, but a model is read again; name the file to write", out.path);
  check_each({&out, 1}, inputs);
  if (!replace) check_no_model(out, ", or --force to replace it");
}

}  // namespace slide
