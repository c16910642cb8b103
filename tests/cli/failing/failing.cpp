// Loaded in front of the C library (LD_PRELOAD), it lets one place of a program fail, as SQLite's tests do it.
//
//   NALM_FAIL_MEMORY=N    the N-th place that asks for memory gets none, once
//   NALM_FAIL_WRITING=N   the N-th call that writes, opens for writing, syncs, renames or locks fails, and all after it
//   NALM_FAIL_LOCK=1      no file can be locked, as on some disks; nothing else fails
//   NALM_FAIL_REPORT=FILE at the end holds how many places there were before the failure, or in all
//
// A place is a way to get there, the functions from the allocation outwards: a loop that asks a million times is one
// place. Nothing counts before the program calls signal(), which it does first of all: what runs before main cannot be
// caught by it.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>

namespace {

std::atomic<bool> counting = false;
std::atomic<long> places = 0;  // so far, of the kind that is asked for
long failing_memory = 0, failing_writing = 0;
thread_local bool inside = false;  // finding out where we are may ask for memory itself

long number_in(const char* name) {
  const char* text = getenv(name);
  return text ? strtol(text, nullptr, 10) : 0;
}

// At the end of the program, also of one that ends itself by _exit.
void report() {
  const char* path = getenv("NALM_FAIL_REPORT");
  if (!path) return;
  char text[32];
  const int size = snprintf(text, sizeof text, "%ld\n", places.load());
  const long file = syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  syscall(SYS_write, file, text, size);
  syscall(SYS_close, file);
}
[[gnu::destructor]] void at_end() { report(); }

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

struct Way {
  std::uint64_t hash = 14695981039346656037u;
  int depth = 0;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* data) {
  constexpr int deepest = 6;
  Way& way = *static_cast<Way*>(data);
  way.hash = (way.hash ^ _Unwind_GetIP(context)) * 1099511628211u;
  return ++way.depth < deepest ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// Whether this way has not been gone before.
bool is_new_way() {
  static std::atomic<std::uint64_t> seen[1 << 16];
  Way way;
  _Unwind_Backtrace(add_frame, &way);
  const std::uint64_t hash = way.hash | 1;
  for (std::size_t k = 0; k < std::size(seen); ++k) {
    std::atomic<std::uint64_t>& slot = seen[(hash + k) % std::size(seen)];
    std::uint64_t found = 0;
    if (slot.compare_exchange_strong(found, hash)) return true;
    if (found == hash) return false;
  }
  return false;
}

bool memory_fails() {
  if (!counting || inside || failing_memory == 0) return false;
  inside = true;
  const bool fails = is_new_way() && ++places == failing_memory;
  inside = false;
  if (fails) errno = ENOMEM;
  return fails;
}

bool writing_fails(int code = ENOSPC) {
  if (!counting || inside || failing_writing == 0 || ++places < failing_writing) return false;
  errno = code;
  return true;
}

}  // namespace

extern "C" {

void (*signal(int number, void (*handler)(int)))(int) {
  if (!counting) {
    failing_memory = number_in("NALM_FAIL_MEMORY");
    failing_writing = number_in("NALM_FAIL_WRITING");
    counting = true;
  }
  static const auto real = next<void (*(*)(int, void (*)(int)))(int)>("signal");
  return real(number, handler);
}

void _Exit(int code) noexcept {
  report();
  syscall(SYS_exit_group, code);
  __builtin_unreachable();
}

// The C library's own names for these, since dlsym asks for memory.
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void* malloc(size_t size) { return memory_fails() ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return memory_fails() ? nullptr : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return memory_fails() ? nullptr : __libc_realloc(old, size); }
void* aligned_alloc(size_t alignment, size_t size) {
  return memory_fails() ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  if (memory_fails()) return ENOMEM;
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}

ssize_t write(int file, const void* bytes, size_t size) {
  return writing_fails() ? -1 : syscall(SYS_write, file, bytes, size);
}
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) {
  return writing_fails() ? -1 : syscall(SYS_pwrite64, file, bytes, size, at);
}
ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) { return pwrite64(file, bytes, size, at); }
int fsync(int file) { return writing_fails(EIO) ? -1 : static_cast<int>(syscall(SYS_fsync, file)); }
int fdatasync(int file) { return writing_fails(EIO) ? -1 : static_cast<int>(syscall(SYS_fdatasync, file)); }
int ftruncate64(int file, off64_t size) {
  return writing_fails() ? -1 : static_cast<int>(syscall(SYS_ftruncate, file, size));
}
int ftruncate(int file, off_t size) noexcept { return ftruncate64(file, size); }
int rename(const char* from, const char* to) noexcept {
  return writing_fails() ? -1 : static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int flock(int file, int operation) noexcept {
  if (number_in("NALM_FAIL_LOCK") != 0) {
    errno = ENOLCK;
    return -1;
  }
  return writing_fails(ENOLCK) ? -1 : static_cast<int>(syscall(SYS_flock, file, operation));
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
  va_end(arguments);
  if ((flags & O_ACCMODE) != O_RDONLY && writing_fails()) return -1;
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
  va_end(arguments);
  return open64(path, flags, mode);
}
size_t fwrite(const void* bytes, size_t size, size_t count, FILE* file) {
  static const auto real = next<size_t (*)(const void*, size_t, size_t, FILE*)>("fwrite");
  return writing_fails() ? 0 : real(bytes, size, count, file);
}
int fflush(FILE* file) {
  static const auto real = next<int (*)(FILE*)>("fflush");
  return writing_fails() ? EOF : real(file);
}
}
