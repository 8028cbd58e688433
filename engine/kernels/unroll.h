// SLIDE_UNROLL before a loop of constant length, whose arrays are to stay in registers.
#pragma once

#if defined(__clang__)
#define SLIDE_UNROLL _Pragma("unroll")
#else
#define SLIDE_UNROLL _Pragma("GCC unroll 16")
#endif
