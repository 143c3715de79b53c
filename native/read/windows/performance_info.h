#pragma once

#include <windows.h>
// after windows.h, whose types it uses
#include <psapi.h>

#include <cstdint>

namespace evictd {

// GetPerformanceInfo. `size`: the size of the structure as the system sees it. Throws SystemError (ERROR_BAD_LENGTH).
PERFORMANCE_INFORMATION ReadPerformanceInfo(uint32_t size = sizeof(PERFORMANCE_INFORMATION));

}  // namespace evictd
