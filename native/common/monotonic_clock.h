#ifndef EVICTD_COMMON_MONOTONIC_CLOCK_H_
#define EVICTD_COMMON_MONOTONIC_CLOCK_H_

#include <cstdint>

namespace evictd {

// In nanoseconds, the clock of process.hrtime.bigint(): CLOCK_MONOTONIC on Linux, QueryPerformanceCounter on Windows.
uint64_t MonotonicNs();

}  // namespace evictd

#endif  // EVICTD_COMMON_MONOTONIC_CLOCK_H_
