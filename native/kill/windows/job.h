#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kill/windows/job_limits.h"
#include "system/windows/unique_handle.h"

namespace evictd {

// A job object held by its handle, so never another job of the same name.
class Job {
 public:
  enum class Mode { kOpen, kCreate };

  struct Accounting {
    uint32_t active_processes = 0;
    uint32_t total_processes = 0;
    uint64_t cpu_time_ns = 0;
    uint64_t peak_commit_bytes = 0;
  };

  // All calls throw SystemError: ERROR_FILE_NOT_FOUND if it does not exist, ERROR_ALREADY_EXISTS if it does (kCreate).
  Job(const std::string& name, Mode mode);

  // Including those of nested jobs.
  std::vector<uint32_t> Processes() const;
  Accounting ReadAccounting() const;
  JobLimits Limits() const;
  void SetLimits(const JobLimitChange& change);
  // `process` needs PROCESS_SET_QUOTA and PROCESS_TERMINATE.
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
