#ifndef EVICTD_COMMON_MONOTONIC_CLOCK_H_
#define EVICTD_COMMON_MONOTONIC_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace evictd {

inline uint64_t ClockNs(clockid_t clock) {
  struct timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

// CLOCK_MONOTONIC in nanoseconds: the clock of process.hrtime.bigint().
inline uint64_t MonotonicNs() { return ClockNs(CLOCK_MONOTONIC); }

}  // namespace evictd

#endif  // EVICTD_COMMON_MONOTONIC_CLOCK_H_
