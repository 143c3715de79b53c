#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "watch/waker.h"
#include "watch/windows/wait_thread.h"
#include "watch/windows/watch_source.h"

namespace evictd {

// Every watch of an environment, on as many threads as their handles need. JavaScript's thread.
//
// Not the system's thread pool: that makes its threads when something has happened, which may be when there is no
// memory for them.
class Waiter {
 public:
  // Starts the first thread. Throws SystemError. The end joins all; not in a finalizer, where Node deadlocks.
  explicit Waiter(std::shared_ptr<Bell> bell);

  // Returns the watch's id, never 0. Throws SystemError where a further thread is wanted, and there is none.
  uint64_t Add(std::shared_ptr<WatchSource> source);

  // After it returns the source is not called any more. Those that are gone are ignored.
  void Remove(uint64_t id);

 private:
  std::shared_ptr<Bell> bell_;
  std::vector<std::unique_ptr<WaitThread>> threads_;
  uint64_t last_ = 0;
};

}  // namespace evictd
