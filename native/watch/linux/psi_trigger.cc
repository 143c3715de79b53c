#include "watch/linux/psi_trigger.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>

#include "system/system_error.h"

namespace evictd {

PsiTrigger::PsiTrigger(const std::string& file, Kind kind, uint64_t stall_us, uint64_t window_us) {
  trigger_.Reset(open(file.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!trigger_) throw SystemError(errno, "open", file);
  char line[64];
  const int length = snprintf(line, sizeof line, "%s %" PRIu64 " %" PRIu64, kind == Kind::kSome ? "some" : "full",
                              stall_us, window_us);
  // The line is written with its NUL, because the kernel overwrites the last byte that it receives.
  if (write(trigger_.get(), line, static_cast<size_t>(length) + 1) < 0) throw SystemError(errno, "write", file);
}

std::vector<WatchSource::Descriptor> PsiTrigger::Descriptors() const { return {{trigger_.get(), EPOLLPRI}}; }

Wake PsiTrigger::OnEvent(size_t, uint32_t events) {
  // The trigger of a removed cgroup reports EPOLLERR with EPOLLPRI for ever: the error wins, or the waiter spins.
  // (memory.events is the opposite: there every notification comes with EPOLLERR.)
  return (events & (EPOLLERR | EPOLLHUP)) != 0 ? Wake::kGone : Wake::kFired;
}

}  // namespace evictd
