// Configuration search (training/tune.h) from files to a file. Safe from any thread.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "engine/config/config.h"
#include "engine/training/tune.h"

namespace slide {

// Callbacks of a search; all may be empty.
struct TuneObserver {
  std::function<void(const std::string& line)> note;              // about data and how they are held out
  std::function<void(const std::vector<std::string>&)> warnings;  // of the data, ReadReport::warnings
  std::function<void(const Trial&)> trial;                        // after each trial
};

// Checks before a search that its result can be written; creates the folder of `file`. Messages name
// `option` as the option to change. Throws InputError where it is a folder, Error where it is not writable.
void prepare_output(const std::filesystem::path& file, const char* option);

// Searches from `start` on data.train; ignores data.test. Writes the best configuration so far to `file`,
// whose folder it creates, after every improvement. Throws InputError where `file` is a folder, for invalid
// data and insufficient memory; Error where `file` cannot be written; and what tune() throws.
TuneResult tune_to_file(const Config& start, const TuneOptions& options, const std::filesystem::path& file,
                        const TuneObserver& observer);

}  // namespace slide
