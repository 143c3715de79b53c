#pragma once

#include <cstdint>

#include "system/linux/unique_fd.h"

namespace evictd {

// Makes a descriptor readable at a time. A timerfd is exact whatever the thread's timer slack is.
class Timer {
 public:
  Timer();  // throws SystemError

  int descriptor() const { return fd_.get(); }

  // Any thread: once, in `ns` nanoseconds, 0 at once. Replaces what was set, and clears an expiration.
  void Set(uint64_t ns);

  // The same, but up to a sixteenth sooner, when other timers with about this time expire too: a thread that waits for
  // several wakes once for them. Not more: a timer without company only expires more often.
  void SetWithOthers(uint64_t now_ns, uint64_t ns);

  // The moment for SetWithOthers: a multiple of the largest power of two that is at most a sixteenth of `ns`.
  static uint64_t SharedMoment(uint64_t now_ns, uint64_t ns);

  // Clears an expiration. Returns false if there is none, or Set has cleared it.
  bool Acknowledge();

 private:
  void Arm(int flags, uint64_t ns);

  UniqueFd fd_;
};

}  // namespace evictd
