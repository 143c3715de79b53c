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
#include "system/linux/unique_fd.h"
#include "watch/linux/waiter.h"

namespace evictd {

// Where no threshold notification exists: samples a value on the waiter thread and fires when it crosses a limit, in
// either direction, or comes so near that it may be there within two of the shortest periods. It samples the more often
// the sooner it could cross: far from its limits it costs next to nothing, near them it is at most one shortest period
// late. Until the first sample a limit counts as not reached: a value that is beyond it by then wakes, so that nothing
// is missed between whoever armed it and that sample.
class DeadlineSampler : public WatchSource {
 public:
  // The contract's SAMPLER bits.
  static constexpr unsigned kApproaching = 1;
  static constexpr unsigned kCrossed = 2;

  // `rate`: per second, what the value is taken to be able to rise by before it has shown more. Throws SystemError.
  DeadlineSampler(std::unique_ptr<SampledValue> value, double rate, SamplingPeriod period,
                  const std::vector<double>& limits);

  // Any thread. Both look at once where something is new.
  void SetLimits(const std::vector<double>& limits);
  void Seen(double value);

  // Any thread: the time to the next sample; 0 before the first.
  uint64_t period_ns() const { return period_ns_; }

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;

 private:
  Wake Sample();
  void LookIn(uint64_t ns);  // with mutex_ held: the last who says when to look decides

  std::unique_ptr<SampledValue> value_;
  FillRate rate_;
  SamplingPeriod period_;
  std::atomic<uint64_t> period_ns_{0};
  std::mutex mutex_;  // guards sides_ and when the timer rings
  LimitSides sides_;
  UniqueFd timer_;
};

}  // namespace evictd
