#pragma once

#include <windows.h>

#include "watch/wake_source.h"

namespace evictd {

// A watch as the waiter sees it: a handle and the meaning of its signal.
class WatchSource : public WakeSource {
 public:
  // Any thread; constant, open until the source is destroyed.
  virtual HANDLE handle() const = 0;

  // Waiter thread. kGone, alone or with kFired, removes the watch from the set. Else the next call follows only after
  // the handle was seen clear.
  virtual Wake OnSignalled() = 0;

 private:
  friend class WaitThread;

  // The wait for the handle failed.
  Wake Lost(int error) { return Gone(error); }
};

}  // namespace evictd
