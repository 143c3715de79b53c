#include "kill/windows/job_limits.h"

namespace evictd {

namespace {

template <typename Value, typename Field>
void ApplyOne(const std::optional<Value>& change, DWORD flag, DWORD* flags, Field* field) {
  if (!change) return;
  *flags = *change == 0 ? *flags & ~flag : *flags | flag;
  *field = static_cast<Field>(*change);
}

}  // namespace

JobLimits LimitsOf(const JOBOBJECT_EXTENDED_LIMIT_INFORMATION& information) {
  const DWORD flags = information.BasicLimitInformation.LimitFlags;
  JobLimits limits;
  if ((flags & JOB_OBJECT_LIMIT_JOB_MEMORY) != 0) limits.commit_bytes = information.JobMemoryLimit;
  if ((flags & JOB_OBJECT_LIMIT_PROCESS_MEMORY) != 0) limits.commit_bytes_per_process = information.ProcessMemoryLimit;
  if ((flags & JOB_OBJECT_LIMIT_ACTIVE_PROCESS) != 0) {
    limits.active_processes = information.BasicLimitInformation.ActiveProcessLimit;
  }
  return limits;
}

void Apply(const JobLimitChange& change, JOBOBJECT_EXTENDED_LIMIT_INFORMATION* information) {
  JOBOBJECT_BASIC_LIMIT_INFORMATION& basic = information->BasicLimitInformation;
  DWORD* const flags = &basic.LimitFlags;
  ApplyOne(change.commit_bytes, JOB_OBJECT_LIMIT_JOB_MEMORY, flags, &information->JobMemoryLimit);
  ApplyOne(change.commit_bytes_per_process, JOB_OBJECT_LIMIT_PROCESS_MEMORY, flags, &information->ProcessMemoryLimit);
  ApplyOne(change.active_processes, JOB_OBJECT_LIMIT_ACTIVE_PROCESS, flags, &basic.ActiveProcessLimit);
  // Setting a limit on the job's CPU time restarts its count. This flag, which excludes the other, keeps it.
  if ((*flags & JOB_OBJECT_LIMIT_JOB_TIME) != 0) {
    *flags = (*flags & ~static_cast<DWORD>(JOB_OBJECT_LIMIT_JOB_TIME)) | JOB_OBJECT_LIMIT_PRESERVE_JOB_TIME;
  }
}

}  // namespace evictd
