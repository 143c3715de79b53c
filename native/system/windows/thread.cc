#include "system/windows/thread.h"

#include <memory>
#include <utility>

#include "system/detached_thread.h"
#include "system/system_error.h"

namespace evictd {

namespace {

// As a reservation: of what it does not touch nothing is committed.
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
  StartThread(RunDetached, owned.get());  // its handle is closed at once: nobody waits for it
  static_cast<void>(owned.release());     // the thread's now
}

}  // namespace evictd
