#pragma once

#include <sys/types.h>

#include "system/linux/unique_fd.h"

namespace evictd {

// A process held by a pidfd (Linux 5.3): never another one that got its number later.
class Process {
 public:
  // Throws SystemError: ESRCH where there is none.
  explicit Process(pid_t pid);

  // Throws SystemError: ESRCH when it is gone.
  void Signal(int signal);

  // Throws SystemError; the codes are ReleaseMemory's.
  void Release();

 private:
  UniqueFd pidfd_;
};

// pidfd_open and pidfd_send_signal as system calls: glibc's wrappers would ask for glibc 2.36. -1 and errno on failure.
int OpenPidfd(pid_t pid);
int SendSignal(int pidfd, int signal);

// process_mrelease: takes the memory of a dying process back, here and now, for as long as that takes. ESRCH: it has
// none any more; EINVAL: it is not dying, or shares its memory with one that is not; ENOSYS before Linux 5.15.
int ReleaseMemory(int pidfd);

}  // namespace evictd
