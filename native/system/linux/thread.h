#pragma once

#include <pthread.h>

namespace evictd {

// Starts a thread with a small stack and all signals blocked, because signals belong to Node's thread. `name`: at most
// 15 characters. Throws SystemError (EAGAIN at the process limit).
pthread_t StartThread(const char* name, void* (*body)(void*), void* argument);

// Prepares a thread that acts while no memory is free: writes to 128 KiB of its stack, and to 96 KiB of heap that
// malloc keeps for it, and throws an exception once. Otherwise the first use of a page would wait for memory, and the
// first exception would need some.
void FaultInMemory();

}  // namespace evictd
