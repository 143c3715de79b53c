#include "system/monotonic_clock.h"

#include "system/linux/clock.h"

namespace evictd {

uint64_t MonotonicNs() { return ClockNs(CLOCK_MONOTONIC); }

}  // namespace evictd
