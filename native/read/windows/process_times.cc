#include "read/windows/process_times.h"

namespace evictd {

namespace {

uint64_t Ticks(const FILETIME& time) { return static_cast<uint64_t>(time.dwHighDateTime) << 32 | time.dwLowDateTime; }

}  // namespace

ProcessTimes ReadProcessTimes(HANDLE process) {
  FILETIME created = {};
  FILETIME ended = {};
  FILETIME kernel = {};
  FILETIME user = {};
  ProcessTimes times;
  if (!GetProcessTimes(process, &created, &ended, &kernel, &user)) {
    times.error = static_cast<int>(GetLastError());
    return times;
  }
  times.created_at = Ticks(created);
  times.cpu_time_ns = (Ticks(kernel) + Ticks(user)) * kTickNs;
  return times;
}

}  // namespace evictd
