#pragma once

#include <windows.h>

#include "system/windows/unique_handle.h"

namespace evictd {

// Starts a thread with a small stack. Its handle is signalled when it has ended. Throws SystemError.
UniqueHandle StartThread(DWORD(WINAPI* body)(void*), void* argument);

}  // namespace evictd
