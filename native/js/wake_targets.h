#pragma once

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>

#include "js/thread_safe_waker.h"

namespace evictd {

// A JavaScript object that receives wakes.
class WakeTarget {
 public:
  virtual ~WakeTarget() = default;

  // JavaScript's thread: calls back for what is pending. May close this and any other target.
  virtual void Deliver() = 0;

  // The environment ends: releases descriptors and references.
  virtual void Detach() = 0;
};

// The wake targets of one environment and its waker. JavaScript's thread only.
class WakeTargets {
 public:
  explicit WakeTargets(Napi::Env env);
  WakeTargets(const WakeTargets&) = delete;
  WakeTargets& operator=(const WakeTargets&) = delete;

  const std::shared_ptr<ThreadSafeWaker>& waker() const { return waker_; }

  // Returns the target's id. Does not own the target.
  uint64_t Register(WakeTarget* target);
  void Unregister(uint64_t id);

  // Live watches keep the event loop alive, as fs.watch does.
  void WatchStarted();
  void WatchEnded();
  size_t watch_count() const { return watch_count_; }

  // Called after the last notification.
  void DetachAll();

 protected:
  ~WakeTargets() = default;

 private:
  void Deliver();

  std::shared_ptr<ThreadSafeWaker> waker_;
  std::map<uint64_t, WakeTarget*> targets_;  // ordered: Deliver walks by id while callbacks add and remove
  uint64_t last_id_ = 0;
  size_t watch_count_ = 0;
};

// Calls a callback from Deliver. An exception in it becomes an uncaught exception, and the other targets are still
// called.
void CallBack(Napi::Env env, const Napi::Value& self, const Napi::Function& callback,
              std::initializer_list<napi_value> arguments);

}  // namespace evictd
