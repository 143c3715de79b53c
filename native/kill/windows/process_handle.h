#pragma once

#include <cstdint>
#include <optional>

#include "system/windows/unique_handle.h"

namespace evictd {

// A process held by its handle; Windows reuses its pid only after the handle is closed.
class ProcessHandle {
 public:
  // Throws SystemError: ERROR_INVALID_PARAMETER if no process has this pid and creation time.
  ProcessHandle(uint32_t pid, uint64_t created_at);

  // Signalled when the process has ended.
  HANDLE get() const { return process_.get(); }

  // An ended process is not a failure. Throws SystemError.
  void Terminate(uint32_t exit_code);

  // Nothing while it lives. Throws SystemError.
  std::optional<uint32_t> ExitCode() const;

  // Opens the rights that AssignProcessToJobObject needs and terminating does not. Throws SystemError.
  UniqueHandle OpenForJob() const;

 private:
  uint32_t pid_;
  UniqueHandle process_;
};

}  // namespace evictd
