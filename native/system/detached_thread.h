#pragma once

#include <functional>

namespace evictd {

// Runs `body`, which throws nothing, on a thread that nobody waits for, so that it may hang: what it uses is its own or
// shared. Each system has its own file of it. Throws SystemError: no thread. `name`: at most 15 characters; Windows
// has none.
void StartDetachedThread(const char* name, std::function<void()> body);

}  // namespace evictd
