#include "sample/linux/deadline_sampler.h"

#include <sys/epoll.h>

#include <cmath>
#include <utility>

#include "system/clock.h"

namespace evictd {

namespace {

constexpr size_t kTimer = 0;

}  // namespace

DeadlineSampler::DeadlineSampler(std::unique_ptr<SampledValue> value, double rate, SamplingPeriod period,
                                 const std::vector<double>& limits, double notice)
    : value_(std::move(value)), rate_(rate), period_(period), sides_(notice) {
  SetLimits(limits);
}

void DeadlineSampler::SetLimits(const std::vector<double>& limits) {
  const std::lock_guard<std::mutex> lock(mutex_);
  sides_.Set(limits);
  timer_.Set(0);
}

void DeadlineSampler::Seen(double value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (sides_.Seen(value)) timer_.Set(0);
}

std::vector<WatchSource::Descriptor> DeadlineSampler::Descriptors() const {
  std::vector<Descriptor> descriptors = {{timer_.descriptor(), EPOLLIN}};
  if (value_->descriptor() >= 0) descriptors.push_back({value_->descriptor(), EPOLLIN});
  return descriptors;
}

Wake DeadlineSampler::OnEvent(size_t which, uint32_t) {
  if (which != kTimer || value_->Request()) return Sample();
  // No further sample until the answer arrives. Sample() sets the timer, which clears its expirations without a read.
  timer_.Acknowledge();
  return Wake::kNothing;
}

Wake DeadlineSampler::Sample() {
  double value = 0;
  const int error = value_->Take(&value);
  if (error != 0 && !value_->IsTransient(error)) return Gone(error);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (error != 0 || std::isnan(value)) {  // NaN: no limit minus no limit
    rate_.Forget();
    timer_.Set(period_.AfterFailure(period_ns_ == 0 ? period_.maximum_ns : period_ns_.load()));
    return Wake::kNothing;
  }
  const uint64_t now_ns = MonotonicNs();
  rate_.Observe(value, now_ns);
  const LimitSides::Evaluation evaluation = sides_.Evaluate(value, rate_, period_);
  period_ns_ = evaluation.period_ns;
  timer_.SetWithOthers(now_ns, evaluation.period_ns);
  if (!evaluation.crossed && !evaluation.approaching) return Wake::kNothing;
  Detail((evaluation.crossed ? kCrossed : 0) | (evaluation.approaching ? kApproaching : 0));
  return Wake::kFired;
}

}  // namespace evictd
