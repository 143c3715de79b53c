#include "sample/linux/limit_sides.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace evictd {

void LimitSides::Set(const std::vector<double>& limits) {
  std::vector<Limit> fresh;
  fresh.reserve(limits.size());
  for (const double limit : limits) fresh.push_back({limit, false, false});
  limits_.swap(fresh);
}

LimitSides::Verdict LimitSides::Look(double value, const FillRate& rate, const SamplingPeriod& period) {
  Verdict verdict = {false, false, period.maximum_ns};
  if (std::isnan(value)) return verdict;
  bool beyond_any = false;
  double nearest = std::numeric_limits<double>::infinity();
  for (Limit& limit : limits_) {
    const bool beyond = value >= limit.value;
    if (beyond != limit.beyond) verdict.crossed = true;
    limit.beyond = beyond;
    if (beyond) {
      beyond_any = true;
      limit.told = true;  // coming back is no approach
      continue;
    }
    const double distance = limit.value - value;
    const double seconds = distance / rate.per_second();
    nearest = std::min(nearest, distance);
    if (period.Distant(seconds)) limit.told = false;
    if (!limit.told && period.Imminent(seconds)) verdict.approaching = limit.told = true;
  }
  const double seconds = nearest / rate.per_second();
  const double per_second = rate.lately_per_second();
  const double lately = per_second > 0 ? nearest / per_second : std::numeric_limits<double>::infinity();
  verdict.period_ns = beyond_any ? period.Beyond(seconds, lately) : period.For(seconds, lately);
  return verdict;
}

bool LimitSides::Seen(double value) {
  bool news = false;
  for (Limit& limit : limits_) {
    if (!limit.beyond || !(value < limit.value)) continue;
    limit.beyond = false;
    news = true;
  }
  return news;
}

}  // namespace evictd
