#pragma once

#include <windows.h>

#include "watch/wake_source.h"

namespace evictd {

// One watch as the waiter sees it: a handle, and what it means that it is signalled.
class WatchSource : public WakeSource {
 public:
  // Any thread; the same at every call, open until the source is destroyed.
  virtual HANDLE handle() const = 0;

  // Waiter thread: it is signalled. kGone, alone or with kFired, takes the watch out of the set: it will not be called
  // again. Else it is called again only after the handle has been seen not to be signalled.
  virtual Wake OnSignalled() = 0;

 private:
  friend class WaitThread;

  // That the handle can be waited for no longer.
  Wake Lost(int error) { return Gone(error); }
};

}  // namespace evictd
