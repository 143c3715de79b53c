#pragma once

#include <cstdint>

namespace evictd {

// In nanoseconds, the clock of process.hrtime.bigint(): CLOCK_MONOTONIC on Linux, QueryPerformanceCounter on Windows.
uint64_t MonotonicNs();

}  // namespace evictd
