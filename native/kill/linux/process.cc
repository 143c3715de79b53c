#include "kill/linux/process.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "system/system_error.h"

namespace evictd {

namespace {

// The headers of Debian 11 and RHEL 9 lack it; the number is the same on every architecture.
constexpr long kProcessMrelease = 448;

}  // namespace

int OpenPidfd(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

int SendSignal(int pidfd, int signal) {
  return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}

int ReleaseMemory(int pidfd) { return static_cast<int>(syscall(kProcessMrelease, pidfd, 0)); }

Process::Process(pid_t pid) : pidfd_(OpenPidfd(pid)) {
  if (!pidfd_) throw SystemError(errno, "pidfd_open");
}

void Process::Signal(int signal) {
  if (SendSignal(pidfd_.get(), signal) != 0) throw SystemError(errno, "pidfd_send_signal");
}

void Process::Release() {
  if (ReleaseMemory(pidfd_.get()) != 0) throw SystemError(errno, "process_mrelease");
}

}  // namespace evictd
