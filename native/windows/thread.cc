#include "windows/thread.h"

#include "common/system_error.h"

namespace evictd {

namespace {

// As a reservation: of what it does not touch nothing is committed.
constexpr SIZE_T kStackBytes = 256 * 1024;

}  // namespace

UniqueHandle StartThread(DWORD(WINAPI* body)(void*), void* argument) {
  UniqueHandle thread(CreateThread(nullptr, kStackBytes, body, argument, STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr));
  if (!thread) throw SystemError(static_cast<int>(GetLastError()), "CreateThread");
  return thread;
}

}  // namespace evictd
