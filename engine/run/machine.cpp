#include "engine/run/machine.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <array>
#include <cstring>
#include <ctime>
#include <sstream>

#include "engine/base/error.h"

namespace slide {

// CPUID leaves 0x80000002 to 0x80000004 return the name; runs of blanks become one blank.
std::string processor_name() {
#if defined(__x86_64__)
  constexpr unsigned kFirst = 0x80000002, kLast = 0x80000004;                         // 16 characters each
  const auto max_leaf = static_cast<unsigned>(__get_cpuid_max(0x80000000, nullptr));  // int of Clang
  if (max_leaf < kLast) return "";
  std::array<unsigned, 12> words{};
  unsigned* at = words.data();
  for (unsigned leaf = kFirst; leaf <= kLast; ++leaf, at += 4) __get_cpuid(leaf, at, at + 1, at + 2, at + 3);
  std::array<char, sizeof words> bytes{};
  std::memcpy(bytes.data(), words.data(), sizeof words);
  std::istringstream text(std::string(bytes.data(), strnlen(bytes.data(), bytes.size())));
  std::string name;
  for (std::string word; text >> word;) name += (name.empty() ? "" : " ") + word;
  return one_line(name);
#else
  return "";
#endif
}

std::string utc_text(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace slide
