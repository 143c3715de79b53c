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

  // Clears an expiration. Returns false if there is none, or Set has cleared it.
  bool Acknowledge();

 private:
  UniqueFd fd_;
};

}  // namespace evictd
