#pragma once

#include <sys/eventfd.h>

#include <cerrno>

#include "system/linux/unique_fd.h"
#include "system/system_error.h"
#include "watch/waker.h"

namespace evictd {

// A bell that the waiter thread hears: an eventfd in its set. Whoever rings holds it, so that a late ring has somewhere
// to go.
class EventBell : public Bell {
 public:
  EventBell() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!event_) throw SystemError(errno, "eventfd");
  }

  bool Ring() override {
    eventfd_write(event_.get(), 1);  // a full counter is readable, too
    return true;
  }

  void Silence() {
    eventfd_t rings = 0;
    eventfd_read(event_.get(), &rings);
  }

  int descriptor() const { return event_.get(); }

 private:
  UniqueFd event_;
};

}  // namespace evictd
