#pragma once

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>

#include "js/thread_safe_waker.h"

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

// Who is to be woken in one environment (main thread or worker), and its bell. All of it is JavaScript's thread's.
class WakeTargets {
 public:
  explicit WakeTargets(Napi::Env env);
  WakeTargets(const WakeTargets&) = delete;
  WakeTargets& operator=(const WakeTargets&) = delete;

  const std::shared_ptr<ThreadSafeBell>& bell() const { return bell_; }

  // Returns the target's id; it is not owned here.
  uint64_t Register(WakeTarget* target);
  void Unregister(uint64_t id);

  // Live watches keep the event loop alive, as fs.watch does.
  void WatchStarted();
  void WatchEnded();
  size_t watch_count() const { return watch_count_; }

 protected:
  ~WakeTargets() = default;

  // When nobody rings any more.
  void AbandonAll();

 private:
  void Deliver();

  std::shared_ptr<ThreadSafeBell> bell_;
  std::map<uint64_t, WakeTarget*> targets_;  // ordered: Deliver walks by id while callbacks add and remove
  uint64_t last_id_ = 0;
  size_t watch_count_ = 0;
};

// Calls a callback from Deliver. What it throws becomes an uncaught exception, as from an event listener, and the other
// targets get theirs.
void CallBack(Napi::Env env, const Napi::Value& self, const Napi::Function& callback,
              std::initializer_list<napi_value> arguments);

}  // namespace evictd
