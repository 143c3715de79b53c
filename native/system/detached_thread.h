#pragma once

#include <functional>

namespace evictd {

// Runs `body` on a detached thread that may hang. `body` throws nothing and owns or shares what it uses. `name`: at
// most 15 characters (Linux only). Throws SystemError if there is no thread. Each system implements it.
void StartDetachedThread(const char* name, std::function<void()> body);

}  // namespace evictd
