#pragma once

#include <pthread.h>

namespace evictd {

// Starts a native thread with a small stack and every signal blocked: signals belong to Node's own thread. Throws
// SystemError (EAGAIN where the process limit is reached). `name`: at most 15 characters.
pthread_t StartThread(const char* name, void* (*body)(void*), void* argument);

}  // namespace evictd
