// The limits in force depend on flags, which Wine does not keep, so this tests the structure alone. Exit code: the line
// of the failed check.
#include "kill/windows/job_limits.h"

#define HOLDS(what) \
  if (!(what)) return __LINE__

int main() {
  constexpr DWORD kKillOnClose = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION information = {};
  information.BasicLimitInformation.LimitFlags = kKillOnClose | JOB_OBJECT_LIMIT_JOB_TIME;
  information.ProcessMemoryLimit = 5;  // no limit without its flag

  evictd::JobLimits limits = evictd::LimitsOf(information);
  HOLDS(limits.commit_bytes == 0 && limits.commit_bytes_per_process == 0 && limits.active_processes == 0);

  evictd::JobLimitChange change;
  change.commit_bytes = uint64_t{5} << 32;
  change.active_processes = 9;
  evictd::Apply(change, &information);
  limits = evictd::LimitsOf(information);
  HOLDS(limits.commit_bytes == uint64_t{5} << 32 && limits.commit_bytes_per_process == 0 &&
        limits.active_processes == 9);
  // The other limits stay, and a time limit does not restart its count.
  const DWORD flags = information.BasicLimitInformation.LimitFlags;
  HOLDS((flags & kKillOnClose) != 0);
  HOLDS((flags & JOB_OBJECT_LIMIT_JOB_TIME) == 0 && (flags & JOB_OBJECT_LIMIT_PRESERVE_JOB_TIME) != 0);

  change = {};
  change.commit_bytes = 0;
  change.commit_bytes_per_process = 7;
  evictd::Apply(change, &information);
  limits = evictd::LimitsOf(information);
  HOLDS(limits.commit_bytes == 0 && limits.commit_bytes_per_process == 7 && limits.active_processes == 9);
  HOLDS((information.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_JOB_MEMORY) == 0);
  return 0;
}
