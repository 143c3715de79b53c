#pragma once

#include <cstdint>

namespace evictd {

// Nanoseconds of process.hrtime.bigint()'s clock: CLOCK_MONOTONIC on Linux, QueryPerformanceCounter on Windows.
uint64_t MonotonicNs();

}  // namespace evictd
