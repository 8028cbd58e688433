// SLIDE_UNROLL: unrolls the next loop of constant length, so that its arrays stay in registers.
#pragma once

#if defined(__clang__)
#define SLIDE_UNROLL _Pragma("unroll")
#else
#define SLIDE_UNROLL _Pragma("GCC unroll 16")
#endif
