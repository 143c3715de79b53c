#pragma once

#include <sys/eventfd.h>

#include <cerrno>
#include <memory>

#include "filesystem/filesystem_stats.h"
#include "sample/linux/sampled_value.h"
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

// The free space of a filesystem, negated: free space falls to a limit, a sampled value rises to one. FilesystemStats
// reads it on its thread; while that hangs there is no sample.
class FilesystemValue : public SampledValue {
 public:
  enum class Field { kAvailableBytes, kInodesFree };

  // Holds no strong reference: EBADF after the owner has closed the FilesystemStats.
  FilesystemValue(std::weak_ptr<FilesystemStats> stats, Field field);

  int descriptor() const override { return waker_->descriptor(); }
  bool Request() override;
  int Take(double* value) override;
  bool IsTransient(int error) const override;

 private:
  std::weak_ptr<FilesystemStats> stats_;
  Field field_;
  std::shared_ptr<EventWaker> waker_;
  bool requested_ = false;
};

}  // namespace evictd
