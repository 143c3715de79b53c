#include "system/linux/timer.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>

#include "system/system_error.h"

namespace evictd {

namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;

}  // namespace

Timer::Timer() : fd_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!fd_) throw SystemError(errno, "timerfd_create");
}

void Timer::Set(uint64_t ns) {
  if (ns == 0) ns = 1;  // 0 would disarm it
  itimerspec once = {};
  once.it_value.tv_sec = static_cast<time_t>(ns / kNsPerSecond);
  once.it_value.tv_nsec = static_cast<long>(ns % kNsPerSecond);
  timerfd_settime(fd_.get(), 0, &once, nullptr);  // EINVAL and EFAULT only
}

bool Timer::Acknowledge() {
  uint64_t expirations = 0;
  return read(fd_.get(), &expirations, sizeof expirations) > 0;
}

}  // namespace evictd
