#include "service/windows/services.h"

#include <windows.h>
// after windows.h, whose types they use
#include <winsvc.h>

#include "js/argument.h"
#include "js/error.h"
#include "js/windows/objects.h"

namespace evictd {

namespace {

// The contract's words.
const char* StateName(uint32_t state) {
  switch (state) {
    case SERVICE_START_PENDING:
      return "start-pending";
    case SERVICE_STOP_PENDING:
      return "stop-pending";
    case SERVICE_RUNNING:
      return "running";
    case SERVICE_CONTINUE_PENDING:
      return "continue-pending";
    case SERVICE_PAUSE_PENDING:
      return "pause-pending";
    case SERVICE_PAUSED:
      return "paused";
    default:
      return "stopped";
  }
}

Napi::Object ToJs(Napi::Env env, const ServiceEntry& entry) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("name", Napi::String::New(env, entry.name));
  object.Set("displayName", Napi::String::New(env, entry.display_name));
  object.Set("state", Napi::String::New(env, StateName(entry.state)));
  object.Set("pid", Napi::Number::New(env, entry.pid));
  object.Set("ownProcess", Napi::Boolean::New(env, entry.own_process));
  object.Set("acceptsStop", Napi::Boolean::New(env, entry.accepts_stop));
  return object;
}

}  // namespace

Napi::Value Services(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::vector<ServiceEntry> entries = Guarded(env, [] { return ListServices(); });
  Napi::Array result = Napi::Array::New(env, entries.size());
  for (uint32_t i = 0; i < entries.size(); i++) result.Set(i, ToJs(env, entries[i]));
  return result;
}

void StopServiceOf(const Napi::CallbackInfo& info) {
  const std::string name = TextArgument(info[0], "name");
  Guarded(info.Env(), [&] { StopService(name); });
}

}  // namespace evictd
