// Symbols that glibc 2.32 and later define and earlier versions lack, for the Python module of the wheel,
// which runs with both. __asm__ names the symbols for the linker only: headers declare some of them
// otherwise.
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#define SLIDE_SYMBOL(name) __asm__(name) __attribute__((visibility("hidden")))

extern "C" {

// glibc 2.32: not 0 while a process has a single thread, for which libstdc++ counts references without
// atomics.
extern char slide_single_threaded SLIDE_SYMBOL("__libc_single_threaded");
char slide_single_threaded = 0;

// glibc 2.33; earlier versions have them in a static library. On 64-bit systems the struct of the kernel is
// the struct of glibc.
int slide_fstat(int file, struct stat* facts) SLIDE_SYMBOL("fstat");
int slide_fstat(int file, struct stat* facts) {
  return static_cast<int>(syscall(SYS_fstat, file, facts));
}
int slide_fstat64(int file, struct stat* facts) SLIDE_SYMBOL("fstat64");
int slide_fstat64(int file, struct stat* facts) {
  return slide_fstat(file, facts);
}
int slide_stat(const char* path, struct stat* facts) SLIDE_SYMBOL("stat");
int slide_stat(const char* path, struct stat* facts) {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, facts, 0));
}
int slide_lstat(const char* path, struct stat* facts) SLIDE_SYMBOL("lstat");
int slide_lstat(const char* path, struct stat* facts) {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, facts, AT_SYMLINK_NOFOLLOW));
}

// glibc 2.36: random bits, for std::random_device.
std::uint32_t slide_arc4random() SLIDE_SYMBOL("arc4random");
std::uint32_t slide_arc4random() {
  std::uint32_t bits = 0;
  while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
  }
  return bits;
}

}  // extern "C"
