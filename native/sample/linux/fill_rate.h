#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace evictd {

// How fast a value may be about to rise: the highest rate that was seen, and never less than what the owner assumed. A
// machine that was idle so far has shown nothing of what it can do, so a low rate that was seen makes nothing slower.
class FillRate {
 public:
  // Over less than this the batches in which the kernel counts would be taken for a rate.
  static constexpr uint64_t kWindowNs = 10'000'000;
  // A jump is no rate: fallocate takes 100 GB in one call. Taken at its word it would keep the sampler at its shortest
  // period for ever.
  static constexpr double kMostTimesAssumed = 8;

  explicit FillRate(double assumed_per_second) : assumed_(assumed_per_second), highest_(assumed_per_second) {}

  // It goes on as it went lately, and may yet become so many times faster.
  static constexpr double kHeadroom = 16;

  double per_second() const { return highest_; }

  // What it may be about to rise by, by what it does now, whatever it could do: 0 where it rests.
  double lately_per_second() const { return lately_ * kHeadroom; }

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
      lately_ = std::max(rate, lately_ / 2);  // it comes in batches
    }
    known_ = true;
    from_ = value;
    since_ns_ = at_ns;
  }

  // What comes next does not continue what was seen: a sample failed. The highest rate stays.
  void Forget() { known_ = false; }

 private:
  double assumed_;
  double highest_;
  double lately_ = 0;
  bool known_ = false;
  double from_ = 0;
  uint64_t since_ns_ = 0;
};

}  // namespace evictd
