#pragma once

#include <sys/types.h>

#include "system/linux/unique_fd.h"

namespace evictd {

// A process held by a pidfd (Linux 5.3), so never another process that reuses its pid.
class Process {
 public:
  // Throws SystemError: ESRCH if there is no such process.
  explicit Process(pid_t pid);

  // Throws SystemError: ESRCH if the process is gone.
  void Signal(int signal);

  // Throws SystemError, with the codes of ReleaseMemory.
  void Release();

 private:
  UniqueFd pidfd_;
};

// System calls without glibc's wrappers, which need glibc 2.36. Return -1 and errno on failure.
int OpenPidfd(pid_t pid);
int SendSignal(int pidfd, int signal);

// process_mrelease: releases the memory of a dying process, and blocks meanwhile. ESRCH: it has none any more; EINVAL:
// it is not dying, or shares its memory with a live process; ENOSYS before Linux 5.15.
int ReleaseMemory(int pidfd);

}  // namespace evictd
