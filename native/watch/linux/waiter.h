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

// A watch as the waiter sees it: descriptors and the meaning of their events.
class WatchSource : public WakeSource {
 public:
  struct Descriptor {
    int fd;
    uint32_t interest;  // EPOLL*; EPOLLERR and EPOLLHUP are always reported
  };

  // The descriptors, at most 256; constant except for Waiter::Exchange.
  virtual std::vector<Descriptor> Descriptors() const = 0;

  // Waiter thread. `which` is the index in Descriptors(). kGone removes the watch from the set.
  virtual Wake OnEvent(size_t which, uint32_t events) = 0;

  // Armer thread, after Armer::Arm: the slow call. `id` is the watch's.
  virtual void Arm(Waiter*, uint64_t /*id*/) {}

  // Whether it hears of the wakes of all watches, its own included. One of a waiter's watches may.
  virtual bool Follows() const { return false; }
  // Any thread, after a wake at `now_ns`.
  virtual void WatchWoke(uint64_t /*now_ns*/) {}

  // Whether closing its descriptors is slow, or Arm may be queued: the armer drops it (Armer::Release).
  virtual bool LeftToArmer() const { return false; }

  // Waiter thread, after OnEvent: the detail bits of its wake.
  unsigned TakeDetail() { return std::exchange(detail_, 0); }

 protected:
  // Called in OnEvent: adds detail bits for JavaScript, defined by the kind of watch.
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

// One epoll thread for all watches of an environment.
class Waiter {
 public:
  // Starts the thread. Throws SystemError.
  explicit Waiter(std::shared_ptr<Waker> waker);
  // Stops and joins the thread. Not in a finalizer: Node 24 deadlocks there; the environment's cleanup hook does it.
  ~Waiter();
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Any thread. Gives the thread the lowest real-time priority, so that it runs at once on a busy processor. Returns 0
  // or errno: EPERM without CAP_SYS_NICE or RLIMIT_RTPRIO.
  int SetRealtime();

  // Any thread. Returns the watch's id, never 0. Throws SystemError.
  uint64_t Add(std::shared_ptr<WatchSource> source);

  // Any thread but the waiter's. No call of the source follows. Ignores unknown ids.
  void Remove(uint64_t id);

  // Any thread but the waiter's: replaces `held`, the watch's descriptor `which`, by `fresh`, and returns it in
  // `fresh`. Pending events of the old one are lost: post a wake. Returns 0 or errno (ENOENT: the watch was removed),
  // then nothing changes.
  int Exchange(uint64_t id, size_t which, UniqueFd* held, UniqueFd* fresh);

  // Any thread: wakes a watch without an event of its descriptors. No effect after Remove.
  void Post(uint64_t id, Wake wake, unsigned detail);

 private:
  using Watches = std::unordered_map<uint64_t, std::shared_ptr<WatchSource>>;

  static void* Run(void* waiter);
  void Loop();
  void Forget(Watches::iterator watch);
  // Call with the mutex held.
  void TellFollower(uint64_t now_ns);

  std::shared_ptr<Waker> waker_;
  UniqueFd epoll_;
  UniqueFd wakeup_;
  std::atomic<bool> stopping_{false};
  // A notification failed: the bits stay pending, so the thread repeats it.
  std::atomic<bool> unnotified_{false};
  std::mutex mutex_;  // guards watches_; held while a batch of events is handled
  Watches watches_;
  uint64_t last_id_ = 0;
  uint64_t follower_id_ = 0;
  pthread_t thread_;
};

}  // namespace evictd
