#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

#include "watch/linux/waiter.h"

namespace evictd {

// One thread per environment for calls in which the kernel waits for an RCU grace period (8 to 32 ms): registering a v1
// threshold, closing a PSI trigger. The queue links the sources themselves, each at most once, so queueing allocates
// nothing.
class Armer {
 public:
  // Starts the thread. `waiter` outlives it. Throws SystemError.
  explicit Armer(Waiter* waiter);
  // Waits for the current call and drops the others. Not in a finalizer, as with the waiter.
  ~Armer();
  Armer(const Armer&) = delete;
  Armer& operator=(const Armer&) = delete;

  // Any thread: calls source->Arm once more. Calls coalesce.
  void Arm(std::shared_ptr<WatchSource> source, uint64_t id);

  // Any thread but the armer's, once: ends arming and drops the source on the armer's thread, which closes its
  // descriptors. The caller waits if too many sources wait for that already.
  void Release(std::shared_ptr<WatchSource> source);

 private:
  static constexpr size_t kMaximumReleases = 64;

  static void* Run(void* armer);
  void Loop();
  // Call with the mutex held.
  void Append(std::shared_ptr<WatchSource> source);

  Waiter* waiter_;
  std::mutex mutex_;  // guards the rest and the sources' queue places; not held during a call
  std::condition_variable changed_;
  std::condition_variable released_;
  std::shared_ptr<WatchSource> first_;
  WatchSource* last_ = nullptr;
  size_t releases_ = 0;
  bool stopping_ = false;
  pthread_t thread_;
};

}  // namespace evictd
