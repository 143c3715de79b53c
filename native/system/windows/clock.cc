#include "system/clock.h"

#include <windows.h>

namespace evictd {

uint64_t MonotonicNs() {
  constexpr uint64_t kSecondNs = 1000000000;
  LARGE_INTEGER frequency = {};
  LARGE_INTEGER counter = {};
  QueryPerformanceFrequency(&frequency);
  QueryPerformanceCounter(&counter);
  const auto per_second = static_cast<uint64_t>(frequency.QuadPart);
  const auto ticks = static_cast<uint64_t>(counter.QuadPart);
  // Computed in two parts, because at 10 MHz the whole product overflows after half an hour.
  return ticks / per_second * kSecondNs + ticks % per_second * kSecondNs / per_second;
}

uint64_t BootTimeNs() { return static_cast<uint64_t>(GetTickCount64()) * 1000000; }

}  // namespace evictd
