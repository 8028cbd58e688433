// Facts about the machine and time of a run. Safe from any thread.
#pragma once

#include <cstdint>
#include <string>

namespace slide {

// Processor model, e.g. "AMD EPYC 9B45"; empty where unknown.
std::string processor_name();

// UTC time of `seconds` since 1970, e.g. "2026-11-25T18:42:07Z".
std::string utc_text(std::int64_t seconds);

}  // namespace slide
