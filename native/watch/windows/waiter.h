#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "watch/waker.h"
#include "watch/windows/wait_thread.h"
#include "watch/windows/watch_source.h"

namespace evictd {

// All watches of an environment, on as many threads as their handles need. JavaScript's thread only.
//
// Not the system's thread pool, which creates threads on demand, when memory may be gone.
class Waiter {
 public:
  // Starts the first thread. The destructor joins all; not in a finalizer, where Node deadlocks. Throws SystemError.
  explicit Waiter(std::shared_ptr<Waker> waker);

  // Returns the watch's id, never 0. Throws SystemError if a further thread cannot be created.
  uint64_t Add(std::shared_ptr<WatchSource> source);

  // No call of the source follows. Ignores watches that are gone.
  void Remove(uint64_t id);

 private:
  std::shared_ptr<Waker> waker_;
  std::vector<std::unique_ptr<WaitThread>> threads_;
  uint64_t last_ = 0;
};

}  // namespace evictd
