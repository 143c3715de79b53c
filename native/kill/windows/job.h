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

  // All calls throw SystemError: ERROR_FILE_NOT_FOUND if it does not exist, ERROR_ALREADY_EXISTS if it does (kCreate).
  Job(const std::string& name, Mode mode);

  // Including those of nested jobs.
  std::vector<uint32_t> Processes() const;
  // 0: none.
  uint64_t CommitLimit() const;
  void SetCommitLimit(uint64_t bytes);
  // `process` needs PROCESS_SET_QUOTA and PROCESS_TERMINATE.
  void Assign(HANDLE process);
  void Terminate(uint32_t exit_code);

 private:
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION Limits() const;
  [[noreturn]] void Throw(const char* syscall, DWORD error) const;

  std::string name_;
  UniqueHandle job_;
};

}  // namespace evictd
