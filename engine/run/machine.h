// What a run notes about where and when it was made. Safe to call from any thread.
#pragma once

#include <cstdint>
#include <string>

namespace slide {

// The processor as it calls itself, "AMD EPYC 9B45"; empty where it has no name.
std::string processor_name();

// "2026-11-25T18:42:07Z", of seconds since 1970.
std::string utc_text(std::int64_t seconds);

}  // namespace slide
