#include "system/linux/timer.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>

#include "system/system_error.h"

namespace evictd {

namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;
// A sooner time is wanted exactly.
constexpr uint64_t kWorthSharingNs = 20'000'000;

}  // namespace

Timer::Timer() : fd_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!fd_) throw SystemError(errno, "timerfd_create");
}

void Timer::Set(uint64_t ns) {
  Arm(0, ns == 0 ? 1 : ns);  // 0 would disarm it
}

void Timer::SetWithOthers(uint64_t now_ns, uint64_t ns) {
  if (ns < kWorthSharingNs) return Set(ns);
  Arm(TFD_TIMER_ABSTIME, SharedMoment(now_ns, ns));
}

uint64_t Timer::SharedMoment(uint64_t now_ns, uint64_t ns) {
  uint64_t step = 1;
  while (step <= ns / 32) step *= 2;
  return (now_ns + ns) / step * step;
}

void Timer::Arm(int flags, uint64_t ns) {
  itimerspec once = {};
  once.it_value.tv_sec = static_cast<time_t>(ns / kNsPerSecond);
  once.it_value.tv_nsec = static_cast<long>(ns % kNsPerSecond);
  timerfd_settime(fd_.get(), flags, &once, nullptr);  // EINVAL and EFAULT only
}

bool Timer::Acknowledge() {
  uint64_t expirations = 0;
  return read(fd_.get(), &expirations, sizeof expirations) > 0;
}

}  // namespace evictd
