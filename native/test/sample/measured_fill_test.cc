#include "sample/linux/measured_fill.h"

#include <cmath>

#include "check.h"

namespace evictd::test {

TEST("how fast memory is filled") {
  const double bytes_per_second = MeasureFill();
  CHECK(bytes_per_second > 1e6);
  CHECK(std::isfinite(bytes_per_second));
}

}  // namespace evictd::test
