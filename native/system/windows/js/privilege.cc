#include "system/windows/privilege.h"

#include "js/error.h"
#include "js/windows/objects.h"

namespace evictd {

Napi::Value DebugPrivilege(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return Napi::Boolean::New(env, Guarded(env, [] { return EnableDebugPrivilege(); }));
}

}  // namespace evictd
