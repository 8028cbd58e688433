// The sanitizer of a test build. Sanitizers use their own heap, delay the release of memory, reserve address
// space, and are slow. Neither is an emulator fast.
#pragma once

#if defined(__SANITIZE_ADDRESS__)  // GCC's names, then Clang's
#define SLIDE_UNDER_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define SLIDE_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLIDE_UNDER_ASAN 1
#elif __has_feature(thread_sanitizer)
#define SLIDE_UNDER_TSAN 1
#endif
#endif

namespace slide {

#ifdef SLIDE_UNDER_ASAN
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#ifdef SLIDE_UNDER_TSAN
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
inline constexpr bool kSanitized = kAddressSanitizer || kThreadSanitizer;

// Whether an emulated machine runs the tests, an order of magnitude more slowly.
#ifdef SLIDE_EMULATED
inline constexpr bool kEmulated = true;
#else
inline constexpr bool kEmulated = false;
#endif

}  // namespace slide
