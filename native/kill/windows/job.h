#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kill/windows/job_limits.h"
#include "system/windows/unique_handle.h"

namespace evictd {

// A job object, held by its handle: another one that gets its name later is never meant.
class Job {
 public:
  enum class Way { kOpen, kCreate };

  struct Accounting {
    uint32_t active_processes = 0;
    uint32_t total_processes = 0;
    uint64_t cpu_time_ns = 0;
    uint64_t peak_commit_bytes = 0;
  };

  // Throws SystemError: ERROR_FILE_NOT_FOUND; where it is to be created, ERROR_ALREADY_EXISTS. The calls below throw
  // it, too.
  Job(const std::string& name, Way way);

  // Of its processes and those of the jobs nested in it.
  std::vector<uint32_t> Processes() const;
  Accounting ReadAccounting() const;
  JobLimits Limits() const;
  void SetLimits(const JobLimitChange& change);
  // `process`: with PROCESS_SET_QUOTA and PROCESS_TERMINATE.
  void Assign(HANDLE process);
  void Terminate(uint32_t exit_code);

 private:
  template <typename Information>
  Information Query(JOBOBJECTINFOCLASS kind) const;
  [[noreturn]] void Throw(const char* syscall, DWORD error) const;

  std::string name_;
  UniqueHandle job_;
};

}  // namespace evictd
