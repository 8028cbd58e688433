// Marks what a shared libslide offers; everything else in it is hidden.
#pragma once

#if defined(__GNUC__)
#define SLIDE_API __attribute__((visibility("default")))
#else
#define SLIDE_API
#endif
