#pragma once

#include <cstdint>
#include <vector>

#include "sample/linux/fill_rate.h"
#include "sample/linux/sampling_period.h"

namespace evictd {

// Limits that a value rises to, and on which side of each it was last. At the limit is beyond it.
class LimitSides {
 public:
  struct Verdict {
    bool crossed;      // a limit, in either direction
    bool approaching;  // a limit that the value came near to from afar
    uint64_t period_ns;
  };

  // A limit counts as not reached until the first value: one that is beyond it by then has crossed it.
  void Set(const std::vector<double>& limits);

  // NaN is on neither side: there is nothing to tell.
  Verdict Look(double value, const FillRate& rate, const SamplingPeriod& period);

  // Somebody else has read this value, and goes by it: a limit that it is below is not reached. True where that is news
  // here: the value may be beyond that limit again.
  bool Seen(double value);

 private:
  struct Limit {
    double value;
    bool beyond;
    bool told;  // of the approach, or of the crossing that it ended in
  };

  std::vector<Limit> limits_;
};

}  // namespace evictd
