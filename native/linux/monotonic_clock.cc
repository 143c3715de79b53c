#include "common/monotonic_clock.h"

#include "linux/clock.h"

namespace evictd {

uint64_t MonotonicNs() { return ClockNs(CLOCK_MONOTONIC); }

}  // namespace evictd
