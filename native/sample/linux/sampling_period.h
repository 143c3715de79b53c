#pragma once

#include <algorithm>
#include <cstdint>

namespace evictd {

// When to look again. Looking again after the time to crossing itself would see a crossing at once where the rate is
// the assumed one; a quarter of it does so at four times that rate, too, for no more than four times next to nothing.
struct SamplingPeriod {
  // Beyond a limit nothing is to be missed by being slow, because whoever reads the value meanwhile says so
  // (LimitSides::Seen): this is how soon its return is noticed.
  static constexpr uint64_t kRecoveryNs = 100'000'000;

  uint64_t minimum_ns;
  uint64_t maximum_ns;
  // At least this while the value does not rise; what begins to is seen so late at most. 0: it may not be.
  uint64_t rest_ns = 0;

  // Seconds to the next limit, at the rate that is assumed and at that of lately; infinity: there is none.
  uint64_t For(double seconds, double seconds_lately) const {
    return std::max(Quarter(seconds), std::min(rest_ns, Quarter(seconds_lately)));
  }

  // A value beyond a limit, which may have another before it.
  uint64_t Beyond(double seconds, double seconds_lately) const {
    return std::min(For(seconds, seconds_lately), std::min(kRecoveryNs, maximum_ns));
  }

  // After a sample that failed: `before` is the period of the last that did not.
  uint64_t AfterFailure(uint64_t before) const { return std::min({before, kRecoveryNs, maximum_ns}); }

  // Below two periods, which only the shortest allows.
  bool Imminent(double seconds) const { return seconds * 1e9 < 2 * static_cast<double>(minimum_ns); }
  // Far enough again for the next approach to be another one.
  bool Distant(double seconds) const { return seconds * 1e9 >= 4 * static_cast<double>(minimum_ns); }

 private:
  uint64_t Quarter(double seconds) const {
    const double ns = seconds * 1e9 / 4;
    if (!(ns < static_cast<double>(maximum_ns))) return maximum_ns;
    return std::max(minimum_ns, static_cast<uint64_t>(std::max(ns, 0.0)));
  }
};

}  // namespace evictd
