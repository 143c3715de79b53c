#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "sample/linux/fill_rate.h"
#include "sample/linux/limit_sides.h"
#include "sample/linux/sampled_value.h"
#include "sample/linux/sampling_period.h"
#include "system/linux/timer.h"
#include "watch/linux/waiter.h"

namespace evictd {

// Samples a value on the waiter thread, for values without a kernel notification. Fires when the value crosses a limit
// in either direction, or can reach one within two of the shortest periods. Samples more often the sooner the value
// could cross: next to no cost far from the limits, at most one shortest period late near them. Until the first sample
// a limit counts as not reached, so a value that is already beyond it fires.
class DeadlineSampler : public WatchSource {
 public:
  static constexpr unsigned kApproaching = 1;
  static constexpr unsigned kCrossed = 2;

  // `rate`: the assumed highest rise per second before a higher one is measured. `notice`: as in LimitSides. Throws
  // SystemError.
  DeadlineSampler(std::unique_ptr<SampledValue> value, double rate, SamplingPeriod period,
                  const std::vector<double>& limits, double notice = 0);

  // Any thread. Both sample at once if something changes.
  void SetLimits(const std::vector<double>& limits);
  void Seen(double value);

  // Any thread. 0 before the first sample.
  uint64_t period_ns() const { return period_ns_; }

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;

 private:
  Wake Sample();

  std::unique_ptr<SampledValue> value_;
  FillRate rate_;
  SamplingPeriod period_;
  std::atomic<uint64_t> period_ns_{0};
  std::mutex mutex_;  // guards sides_ and the timer
  LimitSides sides_;
  Timer timer_;
};

}  // namespace evictd
