#pragma once

#include <atomic>

#include "watch/wake_mask.h"

namespace evictd {

// What all watches have in common on both systems.
class WakeSource {
 public:
  virtual ~WakeSource() = default;

  WakeMask& wakes() { return wakes_; }

  // Any thread: why the source is gone or a request was refused; else 0.
  int error() const { return error_; }

 protected:
  void Refused(int error) { error_ = error; }

  // Used as `return Gone(error)` in an event handler.
  Wake Gone(int error) {
    error_ = error;
    return Wake::kGone;
  }

 private:
  WakeMask wakes_;
  std::atomic<int> error_{0};
};

}  // namespace evictd
