#include "system/windows/thread.h"

#include <memory>
#include <utility>

#include "system/detached_thread.h"
#include "system/system_error.h"

namespace evictd {

namespace {

// a reservation: commits only touched pages
constexpr SIZE_T kStackBytes = 256 * 1024;

DWORD WINAPI RunDetached(void* body) {
  const std::unique_ptr<std::function<void()>> owned(static_cast<std::function<void()>*>(body));
  (*owned)();
  return 0;
}

}  // namespace

UniqueHandle StartThread(DWORD(WINAPI* body)(void*), void* argument) {
  UniqueHandle thread(CreateThread(nullptr, kStackBytes, body, argument, STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr));
  if (!thread) throw SystemError(static_cast<int>(GetLastError()), "CreateThread");
  return thread;
}

void StartDetachedThread(const char*, std::function<void()> body) {
  auto owned = std::make_unique<std::function<void()>>(std::move(body));
  StartThread(RunDetached, owned.get());  // closes its handle: no thread waits for it
  static_cast<void>(owned.release());     // the thread owns it
}

}  // namespace evictd
