// Handlers of signals that would end the program silently. Only the program installs them; the library does
// not touch signals.
#pragma once

namespace slide::cli {

// For the lifetime of the process and all threads: a mapped file that loses its pages (SIGBUS) is reported in
// one line, with exit code `code`; any other SIGBUS has its default effect.
void name_lost_files(int code);

}  // namespace slide::cli
