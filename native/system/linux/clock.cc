#include "system/clock.h"

#include <ctime>

namespace evictd {

namespace {

uint64_t ClockNs(clockid_t clock) {
  struct timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

uint64_t MonotonicNs() { return ClockNs(CLOCK_MONOTONIC); }

uint64_t BootTimeNs() { return ClockNs(CLOCK_BOOTTIME); }

}  // namespace evictd
