// The search for a configuration (training/tune.h) from files to a file. Safe to call from any thread.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "engine/config/config.h"
#include "engine/training/tune.h"

namespace slide {

// What a search reports; all may be empty.
struct TuneObserver {
  std::function<void(const std::string& line)> note;              // what the user should know about the data
  std::function<void(const std::vector<std::string>&)> warnings;  // of the data, ReadReport::warnings
  std::function<void(const Trial&)> trial;                        // after each
};

// Before a search: a file that cannot be written would cost all of it. Creates the folder of `file`, which
// `option` named. Throws InputError when it is a folder, Error when it could not be written.
void prepare_output(const std::filesystem::path& file, const char* option);

// Searches from `start` on with the data of data.train; data.test has no part in it. Writes the best
// configuration so far to `file`, whose folder is created, whenever there is a better one. Throws InputError
// when `file` is a folder, for the data and for a lack of memory, Error when `file` cannot be written, and
// what tune() throws.
TuneResult tune_to_file(const Config& start, const TuneOptions& options, const std::filesystem::path& file,
                        const TuneObserver& observer);

}  // namespace slide
