#pragma once

#include <pthread.h>

namespace evictd {

// Starts a thread with a small stack and all signals blocked, because signals belong to Node's thread. `name`: at most
// 15 characters. Throws SystemError (EAGAIN at the process limit).
pthread_t StartThread(const char* name, void* (*body)(void*), void* argument);

}  // namespace evictd
