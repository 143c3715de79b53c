#pragma once

#include <sys/eventfd.h>

#include <cerrno>

#include "system/linux/unique_fd.h"
#include "system/system_error.h"
#include "watch/waker.h"

namespace evictd {

// A waker for the waiter thread: an eventfd in its set. Shared, so that a late notification stays valid.
class EventWaker : public Waker {
 public:
  EventWaker() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!event_) throw SystemError(errno, "eventfd");
  }

  bool Notify() override {
    eventfd_write(event_.get(), 1);  // a full counter is readable too
    return true;
  }

  void Drain() {
    eventfd_t notifications = 0;
    eventfd_read(event_.get(), &notifications);
  }

  int descriptor() const { return event_.get(); }

 private:
  UniqueFd event_;
};

}  // namespace evictd
