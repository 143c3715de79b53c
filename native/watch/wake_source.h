#pragma once

#include <atomic>

#include "watch/wake_mask.h"

namespace evictd {

// What every watch tells of itself, whichever way the system wakes it.
class WakeSource {
 public:
  virtual ~WakeSource() = default;

  WakeMask& wakes() { return wakes_; }

  // Any thread: why the source went away, or what it was asked for was refused, where that is known; else 0.
  int error() const { return error_; }

 protected:
  void Refused(int error) { error_ = error; }

  // For `return Gone(error)` where it is told of an event.
  Wake Gone(int error) {
    error_ = error;
    return Wake::kGone;
  }

 private:
  WakeMask wakes_;
  std::atomic<int> error_{0};
};

}  // namespace evictd
