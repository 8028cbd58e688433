// Signatures and constants of the zip format, shared by reader and writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace slide::zip {

inline constexpr std::string_view kMember = "PK\x03\x04", kEntry = "PK\x01\x02", kEnd = "PK\x05\x06";
inline constexpr std::string_view kEnd64 = "PK\x06\x06", kEnd64Locator = "PK\x06\x07";

inline constexpr std::uint16_t kStored = 0, kDeflated = 8;  // methods
inline constexpr std::uint16_t kEncrypted = 1;              // flag bit
inline constexpr std::uint16_t kZip64Field = 1;             // extra field with 64-bit numbers
inline constexpr std::uint32_t kSeeZip64 = 0xFFFFFFFF;      // placeholder for a 64-bit number
inline constexpr std::uint16_t kSeeZip64Short = 0xFFFF;

inline constexpr std::size_t kEndBytes = 22, kLocatorBytes = 20;
inline constexpr int kRawDeflate = -15;  // for zlib: 32 KB window, no header

}  // namespace slide::zip
