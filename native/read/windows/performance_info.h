#pragma once

#include <windows.h>
// After it, whose types it uses.
#include <psapi.h>

#include <cstdint>

namespace evictd {

// GetPerformanceInfo. `size`: what it is told that its structure has. Throws SystemError (ERROR_BAD_LENGTH).
PERFORMANCE_INFORMATION ReadPerformanceInfo(uint32_t size = sizeof(PERFORMANCE_INFORMATION));

}  // namespace evictd
