#pragma once

#include <cstdint>
#include <optional>

#include "system/windows/unique_handle.h"

namespace evictd {

// A process held by its handle: as long as that is open the number is not given to another one.
class ProcessHandle {
 public:
  // Throws SystemError: ERROR_INVALID_PARAMETER where there is none of that number, or one that was created at another
  // time.
  ProcessHandle(uint32_t pid, uint64_t created_at);

  // Signalled when it has ended.
  HANDLE get() const { return process_.get(); }

  // One that is ending, or has, is no failure. Throws SystemError.
  void Terminate(uint32_t exit_code);

  // None: it lives. Throws SystemError.
  std::optional<uint32_t> ExitCode() const;

  // With what AssignProcessToJobObject wants, which those that are only to end need not grant. Throws SystemError.
  UniqueHandle OpenForJob() const;

 private:
  uint32_t pid_;
  UniqueHandle process_;
};

}  // namespace evictd
