#pragma once

#include <algorithm>
#include <cstdint>

namespace evictd {

// The time to the next sample. A quarter of the time to the limit notices a crossing in time even at four times the
// assumed rate.
struct SamplingPeriod {
  // Beyond a limit a late sample misses nothing, because readers report the value (LimitSides::Seen). This is how soon
  // the way back is noticed.
  static constexpr uint64_t kRecoveryNs = 100'000'000;

  uint64_t minimum_ns;
  uint64_t maximum_ns;
  // The shortest period while the value does not rise, so the longest delay until a rise is seen. 0: none.
  uint64_t rest_ns = 0;
  // The rate with which a value that does not rise may begin to. 0: the assumed one.
  double rest_per_second = 0;

  // `distance` to the next limit, and seconds to it at the assumed rate and at the recent one; infinity: no limit.
  uint64_t For(double distance, double seconds, double recent_seconds) const {
    const uint64_t rest = rest_per_second > 0 ? std::max(rest_ns, Quarter(distance / rest_per_second)) : rest_ns;
    return std::max(Quarter(seconds), std::min(rest, Quarter(recent_seconds)));
  }

  // Beyond a limit; another may follow.
  uint64_t Beyond(double distance, double seconds, double recent_seconds) const {
    return std::min(For(distance, seconds, recent_seconds), std::min(kRecoveryNs, maximum_ns));
  }

  // The period after a failed sample; `before` is that of the last successful sample.
  uint64_t AfterFailure(uint64_t before) const { return std::min({before, kRecoveryNs, maximum_ns}); }

  // Whether the time is less than two of the shortest periods.
  bool Imminent(double seconds) const { return seconds * 1e9 < 2 * static_cast<double>(minimum_ns); }
  // Far enough for a new approach.
  bool Distant(double seconds) const { return seconds * 1e9 >= 4 * static_cast<double>(minimum_ns); }

 private:
  uint64_t Quarter(double seconds) const {
    const double ns = seconds * 1e9 / 4;
    if (!(ns < static_cast<double>(maximum_ns))) return maximum_ns;
    return std::max(minimum_ns, static_cast<uint64_t>(std::max(ns, 0.0)));
  }
};

}  // namespace evictd
