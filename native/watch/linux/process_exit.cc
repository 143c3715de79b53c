#include "watch/linux/process_exit.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "kill/linux/process.h"
#include "system/system_error.h"

namespace evictd {

namespace {

constexpr uint64_t kNone = UINT64_MAX;

}  // namespace

ProcessExit::ProcessExit(const std::vector<pid_t>& pids) {
  epoll_.Reset(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) throw SystemError(errno, "epoll_create1");
  pidfds_.reserve(pids.size());
  int first_error = 0;
  for (const pid_t pid : pids) {
    UniqueFd pidfd;
    int error = ESRCH;
    if (pid > 0) {
      pidfd.Reset(OpenPidfd(pid));
      if (!pidfd) error = errno;
    } else {
      error = EPERM;  // listed as 0: no number in this pid namespace
    }
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = pidfds_.size();
    if (pidfd && epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pidfd.get(), &event) != 0) {
      error = errno;
      pidfd.Reset();
    }
    if (pidfd) {
      pidfds_.push_back(std::move(pidfd));
    } else if (error != ESRCH) {
      if (missed_++ == 0) first_error = error;
    }
  }
  if (pidfds_.empty()) {
    if (missed_ > 0) throw SystemError(first_error, "pidfd_open");
    none_.Reset(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = kNone;
    if (!none_ || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, none_.get(), &event) != 0) throw SystemError(errno, "eventfd");
  }
  remaining_ = pidfds_.size();
}

std::vector<WatchSource::Descriptor> ProcessExit::Descriptors() const { return {{epoll_.get(), EPOLLIN}}; }

Wake ProcessExit::OnEvent(size_t, uint32_t) {
  // The rest is still ready at the waiter's next call.
  std::array<epoll_event, 64> exited;
  const int count = epoll_wait(epoll_.get(), exited.data(), static_cast<int>(exited.size()), 0);
  for (int i = 0; i < count; i++) {
    const uint64_t which = exited[static_cast<size_t>(i)].data.u64;
    if (which == kNone) continue;
    UniqueFd& pidfd = pidfds_[which];
    // Explicitly: a descriptor that a fork duplicated would stay in the set after close, always ready.
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, pidfd.get(), nullptr);
    pidfd.Reset();
    remaining_--;
  }
  if (count <= 0) return Wake::kNothing;
  return remaining_ == 0 ? Gone(0) : Wake::kFired;
}

}  // namespace evictd
