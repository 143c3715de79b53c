#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "system/linux/unique_fd.h"
#include "watch/wake_source.h"
#include "watch/waker.h"

namespace evictd {

class Armer;
class Waiter;

// One watch as the waiter sees it: some descriptors and what their events mean.
class WatchSource : public WakeSource {
 public:
  struct Descriptor {
    int fd;
    uint32_t interest;  // EPOLL*; EPOLLERR and EPOLLHUP are always reported
  };

  // At most 256, the same at every call, unless the waiter exchanged one.
  virtual std::vector<Descriptor> Descriptors() const = 0;

  // Waiter thread. `which` is the index in Descriptors(). kGone takes the watch out of the set: it will not be called
  // again.
  virtual Wake OnEvent(size_t which, uint32_t events) = 0;

  // Armer thread, after Armer::Arm: the call that takes long. `id` is the watch's.
  virtual void Arm(Waiter*, uint64_t /*id*/) {}

  // Whether closing its descriptors takes long, or a call of Arm may be due: then the armer drops it (Armer::Release).
  virtual bool LeftToArmer() const { return false; }

  // Waiter thread, after OnEvent: the detail bits of the wake that it returned.
  unsigned TakeDetail() { return std::exchange(detail_, 0); }

 protected:
  // In OnEvent: what JavaScript is told beside the wake itself. The bits are the contract's, of this kind of watch.
  void Detail(unsigned bits) { detail_ |= bits; }

 private:
  friend class Armer;

  // Its place in the armer's queue, guarded by the armer's mutex.
  struct QueuePlace {
    std::shared_ptr<WatchSource> next;
    uint64_t armed_id = 0;  // 0: not to be armed
    bool waits = false;
    bool released = false;
  };

  QueuePlace queue_;
  unsigned detail_ = 0;
};

// One epoll thread that carries every watch of an environment.
class Waiter {
 public:
  // Starts the thread. Throws SystemError.
  explicit Waiter(std::shared_ptr<Bell> bell);
  // Stops and joins it. Not in a finalizer: Node 24 deadlocks there; the environment's cleanup hook does it.
  ~Waiter();
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Any thread. Returns the watch's id, never 0. Throws SystemError.
  uint64_t Add(std::shared_ptr<WatchSource> source);

  // Any thread but the waiter's. After it returns the source is not called any more. Unknown ids (gone, removed before)
  // are ignored.
  void Remove(uint64_t id);

  // Any thread but the waiter's: puts `fresh` in place of `held`, the descriptor `which` of the watch, and gives `held`
  // back in `fresh`. What the old one had to tell and did not yet is lost: post a wake. Returns 0, or errno where all
  // stays as it was (ENOENT: the watch was removed).
  int Exchange(uint64_t id, size_t which, UniqueFd* held, UniqueFd* fresh);

  // Any thread: wakes a watch for a reason that did not come through its descriptors. Once it was removed nobody is
  // told.
  void Post(uint64_t id, Wake wake, unsigned detail);

 private:
  using Watches = std::unordered_map<uint64_t, std::shared_ptr<WatchSource>>;

  static void* Run(void* waiter);
  void Loop();
  void Forget(Watches::iterator watch);

  std::shared_ptr<Bell> bell_;
  UniqueFd epoll_;
  UniqueFd kick_;
  std::atomic<bool> stopping_{false};
  // A ring that failed: the bits are still there, so the thread repeats it until somebody comes.
  std::atomic<bool> owed_{false};
  std::mutex mutex_;  // guards watches_; held while a batch of events is handled
  Watches watches_;
  uint64_t last_id_ = 0;
  pthread_t thread_;
};

}  // namespace evictd
