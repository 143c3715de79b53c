#include "read/windows/performance_info.h"

#include "system/system_error.h"

namespace evictd {

PERFORMANCE_INFORMATION ReadPerformanceInfo(uint32_t size) {
  PERFORMANCE_INFORMATION info = {};
  if (!GetPerformanceInfo(&info, size)) throw SystemError(static_cast<int>(GetLastError()), "GetPerformanceInfo");
  return info;
}

}  // namespace evictd
