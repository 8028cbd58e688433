// Marks and numbers of the zip format that its reader and its writer share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace slide::zip {

inline constexpr std::string_view kMember = "PK\x03\x04", kEntry = "PK\x01\x02", kEnd = "PK\x05\x06";
inline constexpr std::string_view kEnd64 = "PK\x06\x06", kEnd64Locator = "PK\x06\x07";

inline constexpr std::uint16_t kStored = 0, kDeflated = 8;  // methods
inline constexpr std::uint16_t kEncrypted = 1;              // of the flags
inline constexpr std::uint16_t kZip64Field = 1;             // the extra field with numbers of 64 bits
inline constexpr std::uint32_t kSeeZip64 = 0xFFFFFFFF;      // a number that stands there
inline constexpr std::uint16_t kSeeZip64Short = 0xFFFF;

inline constexpr std::size_t kEndBytes = 22, kLocatorBytes = 20;
inline constexpr int kRawDeflate = -15;  // zlib's: 32 KB of window, no header

}  // namespace slide::zip
