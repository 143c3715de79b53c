#pragma once

#include <cstdint>

namespace evictd {

// Nanoseconds of process.hrtime.bigint()'s clock: CLOCK_MONOTONIC on Linux, QueryPerformanceCounter on Windows.
uint64_t MonotonicNs();

// Nanoseconds since boot, sleep included: CLOCK_BOOTTIME on Linux, GetTickCount64 (in steps of about 16 ms) on Windows.
uint64_t BootTimeNs();

}  // namespace evictd
