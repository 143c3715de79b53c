#pragma once

#include <napi.h>

#include <memory>

#include "filesystem/filesystem_stats.h"
#include "js/value.h"
#include "js/wake_targets.h"
#include "system/clock.h"
#include "watch/wake_mask.h"

namespace evictd {

// The addon's state in one environment (main thread or worker). Derived, the system's Environment, has StopThreads().
template <typename Derived>
class EnvironmentOf : public WakeTargets {
 public:
  static void Create(Napi::Env env) {
    auto environment = std::make_unique<Derived>(env);
    Derived* const held = environment.get();
    env.SetInstanceData(environment.release());
    // Hooks run in reverse order, so the threads are joined before the thread-safe function's own hook. Not in a
    // finalizer: joining there deadlocks on Node 24. process.exit() runs neither.
    env.AddCleanupHook([held] {
      held->StopThreads();
      held->waker()->Close();
      held->DetachAll();
    });
  }
  static Derived* Of(Napi::Env env) { return env.GetInstanceData<Derived>(); }

  FilesystemThreads* filesystem_threads() { return &filesystem_threads_; }

 protected:
  explicit EnvironmentOf(Napi::Env env) : WakeTargets(env), filesystem_threads_(waker()) {}

 private:
  FilesystemThreads filesystem_threads_;
};

Napi::Function DefineFileLock(Napi::Env env);

// What the addon exports on both systems.
template <typename Environment>
void ExportShared(Napi::Env env, Napi::Object exports) {
  exports.Set("WAKE", Bits(env, {{"FIRED", static_cast<unsigned>(Wake::kFired)},
                                 {"GONE", static_cast<unsigned>(Wake::kGone)}}));
  exports.Set("FileLock", DefineFileLock(env));
  const auto boot_time = [](const Napi::CallbackInfo& info) { return Napi::BigInt::New(info.Env(), BootTimeNs()); };
  exports.Set("bootTimeNs", Napi::Function::New(env, boot_time, "bootTimeNs"));
  const auto watch_count = [](const Napi::CallbackInfo& info) {
    return NumberOf(info.Env(), Environment::Of(info.Env())->watch_count());
  };
  exports.Set("watchCount", Napi::Function::New(env, watch_count, "watchCount"));
}

}  // namespace evictd
