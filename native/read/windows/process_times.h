#pragma once

#include <windows.h>

#include <cstdint>

namespace evictd {

// the unit of Windows' times
constexpr uint64_t kTickNs = 100;

// GetProcessTimes; the handle needs PROCESS_QUERY_LIMITED_INFORMATION.
struct ProcessTimes {
  uint64_t created_at = 0;   // 100 ns since 1601, UTC
  uint64_t cpu_time_ns = 0;  // user and kernel
  int error = 0;             // if not 0, the other fields are 0
};
ProcessTimes ReadProcessTimes(HANDLE process);

}  // namespace evictd
