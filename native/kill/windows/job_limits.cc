#include "kill/windows/job_limits.h"

namespace evictd {

uint64_t CommitLimitOf(const JOBOBJECT_EXTENDED_LIMIT_INFORMATION& limits) {
  return (limits.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_JOB_MEMORY) != 0 ? limits.JobMemoryLimit : 0;
}

void SetCommitLimit(uint64_t bytes, JOBOBJECT_EXTENDED_LIMIT_INFORMATION* limits) {
  DWORD& flags = limits->BasicLimitInformation.LimitFlags;
  constexpr DWORD kCommit = JOB_OBJECT_LIMIT_JOB_MEMORY;
  flags = bytes == 0 ? flags & ~kCommit : flags | kCommit;
  limits->JobMemoryLimit = static_cast<SIZE_T>(bytes);
  // Setting a limit on the job's CPU time restarts its count. This flag, which excludes the other, keeps it.
  constexpr DWORD kTime = JOB_OBJECT_LIMIT_JOB_TIME;
  if ((flags & kTime) != 0) flags = (flags & ~kTime) | JOB_OBJECT_LIMIT_PRESERVE_JOB_TIME;
}

}  // namespace evictd
