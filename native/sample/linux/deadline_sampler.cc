#include "sample/linux/deadline_sampler.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <utility>

#include "system/clock.h"
#include "system/system_error.h"

namespace evictd {

namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr uint64_t kNow = 1;  // 0 would disarm the timer
constexpr size_t kTimer = 0;

}  // namespace

DeadlineSampler::DeadlineSampler(std::unique_ptr<SampledValue> value, double rate, SamplingPeriod period,
                                 const std::vector<double>& limits, double notice)
    : value_(std::move(value)), rate_(rate), period_(period), sides_(notice) {
  // A timerfd is exact whatever the thread's timer slack is.
  timer_.Reset(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer_) throw SystemError(errno, "timerfd_create");
  SetLimits(limits);
}

void DeadlineSampler::SetLimits(const std::vector<double>& limits) {
  const std::lock_guard<std::mutex> lock(mutex_);
  sides_.Set(limits);
  SetTimer(kNow);
}

void DeadlineSampler::Seen(double value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (sides_.Seen(value)) SetTimer(kNow);
}

std::vector<WatchSource::Descriptor> DeadlineSampler::Descriptors() const {
  std::vector<Descriptor> descriptors = {{timer_.get(), EPOLLIN}};
  if (value_->descriptor() >= 0) descriptors.push_back({value_->descriptor(), EPOLLIN});
  return descriptors;
}

Wake DeadlineSampler::OnEvent(size_t which, uint32_t) {
  if (which != kTimer || value_->Request()) return Sample();
  // No further sample until the answer arrives. Sample() sets the timer, which clears its expirations without a read.
  uint64_t expirations = 0;
  static_cast<void>(!read(timer_.get(), &expirations, sizeof expirations));
  return Wake::kNothing;
}

Wake DeadlineSampler::Sample() {
  double value = 0;
  const int error = value_->Take(&value);
  if (error != 0 && !value_->IsTransient(error)) return Gone(error);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (error != 0 || std::isnan(value)) {  // NaN: no limit minus no limit
    rate_.Forget();
    SetTimer(period_.AfterFailure(period_ns_ == 0 ? period_.maximum_ns : period_ns_.load()));
    return Wake::kNothing;
  }
  rate_.Observe(value, MonotonicNs());
  const LimitSides::Evaluation evaluation = sides_.Evaluate(value, rate_, period_);
  period_ns_ = evaluation.period_ns;
  SetTimer(evaluation.period_ns);
  if (!evaluation.crossed && !evaluation.approaching) return Wake::kNothing;
  Detail((evaluation.crossed ? kCrossed : 0) | (evaluation.approaching ? kApproaching : 0));
  return Wake::kFired;
}

void DeadlineSampler::SetTimer(uint64_t ns) {
  itimerspec once = {};
  once.it_value.tv_sec = static_cast<time_t>(ns / kNsPerSecond);
  once.it_value.tv_nsec = static_cast<long>(ns % kNsPerSecond);
  timerfd_settime(timer_.get(), 0, &once, nullptr);  // EINVAL and EFAULT only
}

}  // namespace evictd
