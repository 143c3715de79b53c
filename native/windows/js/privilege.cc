#include "windows/privilege.h"

#include "common/js_error.h"
#include "windows/js/objects.h"

namespace evictd {

Napi::Value DebugPrivilege(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return Napi::Boolean::New(env, Guarded(env, [] { return EnableDebugPrivilege(); }));
}

}  // namespace evictd
