#pragma once

#include <napi.h>

#include <cstdint>
#include <memory>

#include "filesystem/filesystem_stats.h"
#include "js/wake_targets.h"
#include "watch/windows/waiter.h"

namespace evictd {

// The addon's state in one environment (main thread or worker).
class Environment : public WakeTargets {
 public:
  // Called once, when the addon is loaded.
  static void Create(Napi::Env env);
  static Environment* Of(Napi::Env env) { return env.GetInstanceData<Environment>(); }

  explicit Environment(Napi::Env env) : WakeTargets(env), filesystem_threads_(waker()) {}

  // For EnvironmentWatch. The first Add starts the waiter. Throws SystemError.
  using Source = WatchSource;
  uint64_t Add(std::shared_ptr<WatchSource> source);
  void Remove(uint64_t id) { waiter_->Remove(id); }
  void Drop(const std::shared_ptr<WatchSource>&, uint64_t /*id*/) {}

  FilesystemThreads* filesystem_threads() { return &filesystem_threads_; }

 private:
  void End();

  FilesystemThreads filesystem_threads_;
  std::unique_ptr<Waiter> waiter_;
};

}  // namespace evictd
