#include "system/linux/thread.h"

#include <array>
#include <csignal>
#include <memory>
#include <new>
#include <utility>

#include "system/detached_thread.h"
#include "system/system_error.h"

namespace evictd {

namespace {

// The stack holds a batch of epoll events, or 16 KiB of cgroup.procs; other buffers are on the heap. glibc takes static
// TLS from the same mapping.
constexpr size_t kStackBytes = 256 * 1024;
constexpr size_t kPageBytes = 4096;

void* RunDetached(void* body) {
  const std::unique_ptr<std::function<void()>> owned(static_cast<std::function<void()>*>(body));
  (*owned)();
  return nullptr;
}

}  // namespace

pthread_t StartThread(const char* name, void* (*body)(void*), void* argument) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the new thread inherits it
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, body, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) throw SystemError(error, "pthread_create");
  pthread_setname_np(thread, name);
  return thread;
}

__attribute__((noinline)) void FaultInMemory() {
  volatile char stack[128 * 1024];
  for (size_t i = 0; i < sizeof stack; i += kPageBytes) stack[i] = 0;
  // Together less than what malloc gives back to the kernel when it is freed (M_TRIM_THRESHOLD, 128 KiB).
  std::array<std::unique_ptr<volatile char[]>, 3> blocks;
  for (auto& block : blocks) {
    block.reset(new volatile char[32 * 1024]);
    for (size_t i = 0; i < 32 * 1024; i += kPageBytes) block[i] = 0;
  }
  // The first exception of a thread allocates thread-local data; if that fails, libc ends the process.
  try {
    throw std::bad_alloc();
  } catch (const std::bad_alloc&) {
  }
}

void StartDetachedThread(const char* name, std::function<void()> body) {
  auto owned = std::make_unique<std::function<void()>>(std::move(body));
  const pthread_t thread = StartThread(name, RunDetached, owned.get());
  static_cast<void>(owned.release());  // the thread owns it
  pthread_detach(thread);
}

}  // namespace evictd
