// Signals that would end the program without a word. Only the program changes what they do: the library
// leaves signals alone.
#pragma once

namespace slide::cli {

// For the life of the process, for all threads: a mapped file that loses its pages (SIGBUS) is named in one
// line, with exit code `code`, and whatever else raises SIGBUS ends the process as it did.
void name_lost_files(int code);

// For the life of the process: writing beyond the largest size of a file (`ulimit -f`) is an error like a
// full disk, not SIGXFSZ.
void report_file_limits();

}  // namespace slide::cli
