#pragma once

#include <cstdint>
#include <vector>

#include "sample/linux/fill_rate.h"
#include "sample/linux/sampling_period.h"

namespace evictd {

// The limits and the side of each on which the value was last. A value at the limit is beyond it.
class LimitSides {
 public:
  struct Evaluation {
    bool crossed;      // a limit, in either direction
    bool approaching;  // came near to a limit from afar
    uint64_t period_ns;
  };

  // `notice`: a value this close to a limit approaches it, as one that can reach it in two of the shortest periods
  // does. It approaches again each time it has come nearer by a quarter.
  explicit LimitSides(double notice = 0) : notice_(notice) {}

  // A limit counts as not reached until the first value, so a first value beyond it crosses it.
  void Set(const std::vector<double>& limits);

  // NaN crosses nothing.
  Evaluation Evaluate(double value, const FillRate& rate, const SamplingPeriod& period);

  // The caller has read this value itself: a limit above it counts as not reached. Returns true if that changes a side.
  bool Seen(double value);

 private:
  struct Limit {
    double value;
    bool beyond;
    double near;    // the distance at which the value approaches next
    bool reported;  // that it comes within two of the shortest periods, or the crossing that followed
  };

  const double notice_;

  std::vector<Limit> limits_;
};

}  // namespace evictd
