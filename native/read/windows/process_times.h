#pragma once

#include <windows.h>

#include <cstdint>

namespace evictd {

// Windows counts time in these.
constexpr uint64_t kTickNs = 100;

// GetProcessTimes of a handle with PROCESS_QUERY_LIMITED_INFORMATION.
struct ProcessTimes {
  uint64_t created_at = 0;   // 100 ns since 1601, UTC
  uint64_t cpu_time_ns = 0;  // user and kernel
  int error = 0;             // why it was refused: the rest is 0
};
ProcessTimes ReadProcessTimes(HANDLE process);

}  // namespace evictd
