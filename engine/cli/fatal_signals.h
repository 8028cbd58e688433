// Handlers of signals that would end the program silently. Only the program installs them; the library does
// not touch signals.
#pragma once

namespace slide::cli {

// For the life of the process, for all threads: a mapped file that loses its pages (SIGBUS) is named in one
// line, with exit code `code`, and whatever else raises SIGBUS ends the process as it did.
void name_lost_files(int code);

}  // namespace slide::cli
