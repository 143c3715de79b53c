#pragma once

#include <time.h>

#include <cstdint>

namespace evictd {

inline uint64_t ClockNs(clockid_t clock) {
  struct timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace evictd
