// Fault injection by LD_PRELOAD: makes one system call of a program fail, as the environment variable FAULT
// says:
//
//   KIND:N:EFFECT    the N-th call of this kind, from 1; with a '+' at the end, also all later ones; for
//                    memory, later requests that exceed the memory freed since
//
// Kinds: read, write, sync, resize, open, name (rename, link), remove, folder (mkdir), map, memory; change:
// every call that creates, renames or removes a file or folder. Effects: EIO, ENOSPC, EINTR, ENOMEM, SHORT
// (half of the request), KILL (the process, before the call). Reads and writes count for regular files.
// FAULT_COUNT names a file that receives the number of calls of each kind, and the number of the first memory
// request from each call site. Counting covers main().
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum Kind { kRead, kWrite, kSync, kResize, kOpen, kName, kRemove, kFolder, kMap, kMemory, kChange, kKinds };
constexpr const char* kNames[kKinds] = {"read",   "write",  "sync", "resize", "open",  "name",
                                        "remove", "folder", "map",  "memory", "change"};
constexpr int kShort = -1, kKill = -2;
constexpr struct {
  const char* name;
  int value;
} kEffects[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EINTR", EINTR},
                {"ENOMEM", ENOMEM}, {"SHORT", kShort},  {"KILL", kKill}};

std::atomic<bool> counting = false;
std::atomic<long> counts[kKinds];
Kind fault_kind = kKinds;
long fault_at = 0;
int fault_effect = 0;
bool fault_lasts = false;
std::atomic<bool> exhausted = false;  // memory is exhausted, except for
std::atomic<long> freed = 0;          // bytes

// ---- call sites of memory requests ----

constexpr std::size_t kMaxPlaces = 1 << 15;
constexpr int kFrames = 14, kOwnFrames = 3;
bool places_wanted = false;
std::uint64_t places[kMaxPlaces];  // hashes of call stacks, 0: free
long firsts[kMaxPlaces];           // the first call from each
std::atomic_flag places_busy;
thread_local bool looking = false;

void note_place(long number) {
  void* frames[kFrames];
  const int depth = backtrace(frames, kFrames);
  std::uint64_t hash = 1469598103934665603ULL;
  for (int i = kOwnFrames; i < depth; ++i)
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(frames[i])) * 1099511628211ULL;
  hash |= 1;
  while (places_busy.test_and_set()) {
  }
  for (std::size_t i = hash % kMaxPlaces, tries = 0; tries < kMaxPlaces; i = (i + 1) % kMaxPlaces, ++tries) {
    if (places[i] == hash) break;
    if (places[i] != 0) continue;
    places[i] = hash;
    firsts[i] = number;
    break;
  }
  places_busy.clear();
}

// ---- counting ----

// The effect on this call: an errno, kShort, or 0 for none.
int fault(Kind kind) {
  if (!counting.load(std::memory_order_relaxed)) return 0;
  const long number = counts[kind].fetch_add(1) + 1;
  if (kind == kMemory && places_wanted && !looking) {
    looking = true;
    note_place(number);
    looking = false;
  }
  if (kind == kMemory && kind == fault_kind && fault_lasts && number == fault_at) exhausted = true;
  if (kind != fault_kind || !(number == fault_at || (fault_lasts && number > fault_at))) return 0;
  if (fault_effect == kKill) kill(getpid(), SIGKILL);
  return fault_effect;
}

bool is_file(int descriptor) {
  struct stat status {};
  const int before = errno;
  const bool file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  errno = before;
  return file;
}

int fault_of(Kind kind, int descriptor) {
  return counting.load(std::memory_order_relaxed) && is_file(descriptor) ? fault(kind) : 0;
}

// Whether the call fails; sets errno.
bool fails(int effect) {
  if (effect > 0) errno = effect;
  return effect > 0;
}

std::size_t halved(int effect, std::size_t bytes) {
  return effect == kShort && bytes > 1 ? bytes / 2 : bytes;
}

void read_fault() {
  const char* text = std::getenv("FAULT");
  char kind[16], effect[16];
  if (text == nullptr || std::sscanf(text, "%15[a-z]:%ld:%15[A-Z]", kind, &fault_at, effect) != 3) return;
  for (int i = 0; i < kKinds; ++i) {
    if (std::strcmp(kind, kNames[i]) == 0) fault_kind = static_cast<Kind>(i);
  }
  for (const auto& known : kEffects) {
    if (std::strcmp(effect, known.name) == 0) fault_effect = known.value;
  }
  fault_lasts = text[std::strlen(text) - 1] == '+';
}

void write_counts() {
  const char* path = std::getenv("FAULT_COUNT");
  if (path == nullptr) return;
  std::FILE* file = std::fopen(path, "we");
  if (file == nullptr) return;
  for (int i = 0; i < kKinds; ++i) std::fprintf(file, "%s %ld\n", kNames[i], counts[i].load());
  for (std::size_t i = 0; i < kMaxPlaces; ++i) {
    if (places[i] != 0) std::fprintf(file, "place %ld\n", firsts[i]);
  }
  std::fclose(file);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

using Main = int(int, char**, char**);
Main* real_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  read_fault();
  places_wanted = std::getenv("FAULT_COUNT") != nullptr;
  void* frame = nullptr;
  backtrace(&frame, 1);  // its first call allocates, which is not counted
  counting = true;
  const int code = real_main(argc, argv, environment);
  counting = false;
  write_counts();
  return code;
}

}  // namespace

extern "C" {

int __libc_start_main(Main* program, int argc, char** argv, void (*init)(), void (*fini)(), void (*exit)(),
                      void* stack) {
  real_main = program;
  return next<int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*)>("__libc_start_main")(
      counted_main, argc, argv, init, fini, exit, stack);
}

// ---- names ----

int rename(const char* from, const char* to) noexcept {
  fault(kChange);
  if (fails(fault(kName))) return -1;
  return next<int(const char*, const char*)>("rename")(from, to);
}
int link(const char* from, const char* to) noexcept {
  fault(kChange);
  if (fails(fault(kName))) return -1;
  return next<int(const char*, const char*)>("link")(from, to);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  fault(kChange);
  if (fails(fault(kName))) return -1;
  return next<int(int, const char*, int, const char*, int)>("linkat")(from_folder, from, to_folder, to,
                                                                      flags);
}
int remove(const char* path) noexcept {
  fault(kChange);
  if (fails(fault(kRemove))) return -1;
  return next<int(const char*)>("remove")(path);
}
int unlink(const char* path) noexcept {
  fault(kChange);
  if (fails(fault(kRemove))) return -1;
  return next<int(const char*)>("unlink")(path);
}
int mkdir(const char* path, mode_t mode) noexcept {
  fault(kChange);
  if (fails(fault(kFolder))) return -1;
  return next<int(const char*, mode_t)>("mkdir")(path, mode);
}

#ifndef SLIDE_NAMES_ONLY  // sanitizers intercept the remaining functions themselves

// ---- files ----

#define OPEN(name)                                                     \
  int name(const char* path, int flags, ...) {                         \
    va_list more;                                                      \
    va_start(more, flags);                                             \
    const mode_t mode = va_arg(more, mode_t);                          \
    va_end(more);                                                      \
    if (fails(fault(kOpen))) return -1;                                \
    return next<int(const char*, int, ...)>(#name)(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  if (fails(fault(kOpen))) return -1;
  return next<int(int, const char*, int, ...)>("openat")(folder, path, flags, mode);
}
std::FILE* fopen(const char* path, const char* mode) {
  if (fails(fault(kOpen))) return nullptr;
  return next<std::FILE*(const char*, const char*)>("fopen")(path, mode);
}
std::FILE* fopen64(const char* path, const char* mode) {
  if (fails(fault(kOpen))) return nullptr;
  return next<std::FILE*(const char*, const char*)>("fopen64")(path, mode);
}
ssize_t read(int file, void* to, std::size_t bytes) {
  const int effect = fault_of(kRead, file);
  if (fails(effect)) return -1;
  return next<ssize_t(int, void*, std::size_t)>("read")(file, to, halved(effect, bytes));
}
ssize_t pread(int file, void* to, std::size_t bytes, off_t at) {
  const int effect = fault_of(kRead, file);
  if (fails(effect)) return -1;
  return next<ssize_t(int, void*, std::size_t, off_t)>("pread")(file, to, halved(effect, bytes), at);
}
ssize_t write(int file, const void* from, std::size_t bytes) {
  const int effect = fault_of(kWrite, file);
  if (fails(effect)) return -1;
  return next<ssize_t(int, const void*, std::size_t)>("write")(file, from, halved(effect, bytes));
}
ssize_t pwrite(int file, const void* from, std::size_t bytes, off_t at) {
  const int effect = fault_of(kWrite, file);
  if (fails(effect)) return -1;
  return next<ssize_t(int, const void*, std::size_t, off_t)>("pwrite")(file, from, halved(effect, bytes), at);
}
ssize_t writev(int file, const iovec* parts, int count) {
  const int effect = fault_of(kWrite, file);
  if (fails(effect)) return -1;
  return next<ssize_t(int, const iovec*, int)>("writev")(file, parts, effect == kShort ? 1 : count);
}
// The calls of a stream are not interceptable: the C library makes them internally.
int fflush(std::FILE* file) {
  const int effect = file == nullptr ? 0 : fault_of(kWrite, fileno(file));
  if (effect > 0 && effect != EINTR) return errno = effect, EOF;
  return next<int(std::FILE*)>("fflush")(file);
}
int fsync(int file) {
  if (fails(fault(kSync))) return -1;
  return next<int(int)>("fsync")(file);
}
int fdatasync(int file) {
  if (fails(fault(kSync))) return -1;
  return next<int(int)>("fdatasync")(file);
}
int ftruncate(int file, off_t bytes) noexcept {
  if (fails(fault(kResize))) return -1;
  return next<int(int, off_t)>("ftruncate")(file, bytes);
}
int truncate(const char* path, off_t bytes) noexcept {
  if (fails(fault(kResize))) return -1;
  return next<int(const char*, off_t)>("truncate")(path, bytes);
}

// ---- memory ----

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

// Whether the caller is the OpenMP runtime or the loader, which end the process when memory is exhausted.
static bool is_runtime(const void* caller) {
  Dl_info info;
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return false;
  return std::strstr(info.dli_fname, "omp.so") != nullptr || std::strstr(info.dli_fname, "/ld-") != nullptr;
}
// Whether this request for `bytes` further bytes fails.
static bool no_memory(const void* caller, std::size_t bytes) {
  if (!counting.load(std::memory_order_relaxed) || looking) return false;
  if (fault(kMemory) <= 0 || is_runtime(caller)) return false;
  const long wanted = static_cast<long>(bytes);
  if (exhausted && freed.fetch_sub(wanted) >= wanted) return false;
  if (exhausted) freed += wanted;
  return fails(ENOMEM);
}
static void give_back(void* memory) {
  if (exhausted.load(std::memory_order_relaxed)) freed += static_cast<long>(malloc_usable_size(memory));
}

void* mmap(void* at, std::size_t bytes, int access, int flags, int file, off_t offset) noexcept {
  if (fails(fault(kMap))) return MAP_FAILED;
  if (exhausted && file < 0 && fails(ENOMEM)) return MAP_FAILED;
  return next<void*(void*, std::size_t, int, int, int, off_t)>("mmap")(at, bytes, access, flags, file,
                                                                       offset);
}
void* malloc(std::size_t bytes) noexcept {
  return no_memory(__builtin_return_address(0), bytes) ? nullptr : __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  return no_memory(__builtin_return_address(0), count * bytes) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) noexcept {
  const std::size_t before = old == nullptr ? 0 : malloc_usable_size(old);
  if (no_memory(__builtin_return_address(0), bytes > before ? bytes - before : 0)) return nullptr;
  return __libc_realloc(old, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return no_memory(__builtin_return_address(0), bytes) ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) noexcept {
  if (no_memory(__builtin_return_address(0), bytes)) return ENOMEM;
  *result = __libc_memalign(alignment, bytes);
  return *result == nullptr ? ENOMEM : 0;
}
void free(void* memory) noexcept {
  give_back(memory);
  __libc_free(memory);
}

#endif
}
