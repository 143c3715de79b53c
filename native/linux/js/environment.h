#ifndef EVICTD_LINUX_JS_ENVIRONMENT_H_
#define EVICTD_LINUX_JS_ENVIRONMENT_H_

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "common/wake.h"
#include "linux/armer.h"
#include "linux/background_walk.h"
#include "linux/filesystem_stats.h"
#include "linux/waiter.h"

namespace evictd {

// A JavaScript object to which wakes are delivered.
class WakeTarget {
 public:
  virtual ~WakeTarget() = default;

  // JavaScript's thread: pass on what is pending. May close this and any other target.
  virtual void Deliver() = 0;

  // The environment ends: release descriptors and references, forget the environment.
  virtual void Abandon() = 0;
};

// What the addon holds per environment (main thread or worker): the bell, the waiter and who is to be woken.
class Environment {
 public:
  // Called once, when the addon is loaded.
  static void Create(Napi::Env env);
  static Environment* Of(Napi::Env env) { return env.GetInstanceData<Environment>(); }

  explicit Environment(Napi::Env env);

  const std::shared_ptr<ThreadSafeBell>& bell() const { return bell_; }

  // The threads of the waiter and of the armer are started here, with the environment's first watch. Throw SystemError.
  Waiter& waiter();
  Armer& armer();

  // What was never added to the waiter: the armer drops it, as Armer::Release, where there is one by now; else this
  // does.
  void Release(std::shared_ptr<WatchSource> source);

  FilesystemThreads* filesystem_threads() { return &filesystem_threads_; }
  BackgroundWalks* background_walks() { return &background_walks_; }
  // Beside them: what hangs of some keeps none of the others from being begun. Who is short waits for emptyings.
  BackgroundWalks* directory_walks() { return &directory_walks_; }
  BackgroundWalks* emptyings() { return &emptyings_; }

  // Returns the target's id; the environment does not own it.
  uint64_t Register(WakeTarget* target);
  void Unregister(uint64_t id);

  // Live watches keep the event loop alive, as fs.watch does.
  void WatchStarted();
  void WatchEnded();
  size_t watch_count() const { return watch_count_; }

 private:
  void Deliver();
  void End();

  std::shared_ptr<ThreadSafeBell> bell_;
  FilesystemThreads filesystem_threads_;
  BackgroundWalks background_walks_;
  BackgroundWalks directory_walks_;
  BackgroundWalks emptyings_;
  std::unique_ptr<Waiter> waiter_;
  std::unique_ptr<Armer> armer_;
  std::map<uint64_t, WakeTarget*> targets_;  // ordered: Deliver walks by id while callbacks add and remove
  uint64_t last_id_ = 0;
  size_t watch_count_ = 0;
};

// Calls a callback from Deliver. What it throws becomes an uncaught exception, as from an event listener, and the other
// targets get theirs.
void CallBack(Napi::Env env, const Napi::Value& self, const Napi::Function& callback,
              std::initializer_list<napi_value> arguments);

}  // namespace evictd

#endif  // EVICTD_LINUX_JS_ENVIRONMENT_H_
