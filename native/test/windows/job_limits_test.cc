// The limits in force depend on flags, which Wine does not keep, so this tests the structure alone. Exit code: the line
// of the failed check.
#include "kill/windows/job_limits.h"

#define HOLDS(what) \
  if (!(what)) return __LINE__

int main() {
  constexpr DWORD kKillOnClose = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION information = {};
  information.BasicLimitInformation.LimitFlags = kKillOnClose | JOB_OBJECT_LIMIT_JOB_TIME;
  information.JobMemoryLimit = 5;  // no limit without its flag
  HOLDS(evictd::CommitLimitOf(information) == 0);

  evictd::SetCommitLimit(uint64_t{5} << 32, &information);
  HOLDS(evictd::CommitLimitOf(information) == uint64_t{5} << 32);
  // The other limits stay, and a time limit does not restart its count.
  const DWORD flags = information.BasicLimitInformation.LimitFlags;
  HOLDS((flags & kKillOnClose) != 0);
  HOLDS((flags & JOB_OBJECT_LIMIT_JOB_TIME) == 0 && (flags & JOB_OBJECT_LIMIT_PRESERVE_JOB_TIME) != 0);

  evictd::SetCommitLimit(0, &information);
  HOLDS(evictd::CommitLimitOf(information) == 0);
  HOLDS((information.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_JOB_MEMORY) == 0);
  HOLDS((information.BasicLimitInformation.LimitFlags & kKillOnClose) != 0);
  return 0;
}
