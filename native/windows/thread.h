#ifndef EVICTD_WINDOWS_THREAD_H_
#define EVICTD_WINDOWS_THREAD_H_

#include <windows.h>

#include "windows/unique_handle.h"

namespace evictd {

// Starts a native thread with a small stack. Its handle is signalled when it has ended. Throws SystemError.
UniqueHandle StartThread(DWORD(WINAPI* body)(void*), void* argument);

}  // namespace evictd

#endif  // EVICTD_WINDOWS_THREAD_H_
