#include "sample/linux/limit_sides.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace evictd {

namespace {

constexpr double kNearer = 0.75;

}  // namespace

void LimitSides::Set(const std::vector<double>& limits) {
  std::vector<Limit> fresh;
  fresh.reserve(limits.size());
  for (const double limit : limits) fresh.push_back({limit, false, notice_, false});
  limits_.swap(fresh);
}

LimitSides::Evaluation LimitSides::Evaluate(double value, const FillRate& rate, const SamplingPeriod& period) {
  Evaluation evaluation = {false, false, period.maximum_ns};
  if (std::isnan(value)) return evaluation;
  bool beyond_any = false;
  double nearest = std::numeric_limits<double>::infinity();
  for (Limit& limit : limits_) {
    const bool beyond = value >= limit.value;
    if (beyond != limit.beyond) evaluation.crossed = true;
    limit.beyond = beyond;
    if (beyond) {
      beyond_any = true;
      limit.near = 0;  // the way back is not an approach
      limit.reported = true;
      continue;
    }
    const double distance = limit.value - value;
    const double seconds = distance / rate.per_second();
    nearest = std::min(nearest, distance);
    if (period.Distant(seconds)) limit.reported = false;
    limit.near = std::max(limit.near, std::min(notice_, kNearer * distance));
    const bool imminent = period.Imminent(seconds);
    if (imminent ? limit.reported : distance > limit.near) continue;
    evaluation.approaching = true;
    limit.near = std::min(notice_, kNearer * distance);
    if (imminent) limit.reported = true;
  }
  const double seconds = nearest / rate.per_second();
  const double per_second = rate.recent_per_second();
  const double recent = per_second > 0 ? nearest / per_second : std::numeric_limits<double>::infinity();
  evaluation.period_ns = beyond_any ? period.Beyond(nearest, seconds, recent) : period.For(nearest, seconds, recent);
  return evaluation;
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
