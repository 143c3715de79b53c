#ifndef EVICTD_WINDOWS_JS_ENVIRONMENT_H_
#define EVICTD_WINDOWS_JS_ENVIRONMENT_H_

#include <napi.h>

#include "common/wake_targets.h"

namespace evictd {

// What the addon holds per environment (main thread or worker): the bell and who is to be woken.
class Environment : public WakeTargets {
 public:
  // Called once, when the addon is loaded.
  static void Create(Napi::Env env);
  static Environment* Of(Napi::Env env) { return env.GetInstanceData<Environment>(); }

  explicit Environment(Napi::Env env) : WakeTargets(env) {}

 private:
  void End();
};

}  // namespace evictd

#endif  // EVICTD_WINDOWS_JS_ENVIRONMENT_H_
