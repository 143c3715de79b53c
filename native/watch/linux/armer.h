#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

#include "watch/linux/waiter.h"

namespace evictd {

// One thread per environment for the calls on watches in which the kernel waits for an RCU grace period (8 to 32 ms):
// registering a v1 threshold, closing a PSI trigger. JavaScript only asks for them. The queue is a chain through the
// sources, each of which stands in it once at most, so asking allocates nothing.
class Armer {
 public:
  // Starts the thread. `waiter` outlives it. Throws SystemError.
  explicit Armer(Waiter* waiter);
  // Waits for the call that is under way; what else was asked for is not done. Not in a finalizer, as with the waiter.
  ~Armer();
  Armer(const Armer&) = delete;
  Armer& operator=(const Armer&) = delete;

  // Any thread: source->Arm is going to be called once more. Asked again before that, it is still one call.
  void Arm(std::shared_ptr<WatchSource> source, uint64_t id);

  // Any thread but the armer's, once: the source is not armed any more, and the armer drops it, so that its descriptors
  // are closed there. Where too many wait for that already, each with its descriptors, the caller waits with them.
  void Release(std::shared_ptr<WatchSource> source);

 private:
  static constexpr size_t kMaximumReleases = 64;

  static void* Run(void* armer);
  void Loop();
  // With the mutex held.
  void Append(std::shared_ptr<WatchSource> source);

  Waiter* waiter_;
  std::mutex mutex_;  // guards what follows and the sources' queue places; not held during a call
  std::condition_variable changed_;
  std::condition_variable released_;
  std::shared_ptr<WatchSource> first_;
  WatchSource* last_ = nullptr;
  size_t releases_ = 0;
  bool stopping_ = false;
  pthread_t thread_;
};

}  // namespace evictd
