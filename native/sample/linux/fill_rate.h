#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace evictd {

// How fast a value may rise: the highest measured rate, at least the assumed one. An idle machine does not show its
// highest rate.
class FillRate {
 public:
  // Over less than this, the kernel's batched counting would look like a rate.
  static constexpr uint64_t kWindowNs = 10'000'000;
  // Limits jumps: fallocate takes 100 GB in one call, which would keep the sampler at its shortest period for ever.
  static constexpr double kMostTimesAssumed = 8;

  explicit FillRate(double assumed_per_second) : assumed_(assumed_per_second), highest_(assumed_per_second) {}

  // How much faster than recently the value may become.
  static constexpr double kHeadroom = 16;

  double per_second() const { return highest_; }

  // The possible rise judged by the recent rate; 0 while the value does not rise.
  double recent_per_second() const { return recent_ * kHeadroom; }

  void Observe(double value, uint64_t at_ns) {
    if (!std::isfinite(value)) {
      Forget();
      return;
    }
    if (known_) {
      const uint64_t elapsed_ns = at_ns - since_ns_;
      if (elapsed_ns < kWindowNs) return;
      const double rate = (value - from_) / (static_cast<double>(elapsed_ns) / 1e9);
      highest_ = std::min(std::max(highest_, rate), kMostTimesAssumed * assumed_);
      recent_ = std::max(rate, recent_ / 2);  // the kernel counts in batches
    }
    known_ = true;
    from_ = value;
    since_ns_ = at_ns;
  }

  // A sample failed, so the next is not a continuation. The highest rate stays.
  void Forget() { known_ = false; }

 private:
  double assumed_;
  double highest_;
  double recent_ = 0;
  bool known_ = false;
  double from_ = 0;
  uint64_t since_ns_ = 0;
};

}  // namespace evictd
