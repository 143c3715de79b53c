#include "service/windows/services.h"

#include <windows.h>
// after windows.h, whose types they use
#include <winsvc.h>

#include "js/argument.h"
#include "js/error.h"
#include "js/value.h"
#include "js/windows/objects.h"

namespace evictd {

namespace {
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
  return ObjectOf(env, {{"name", Napi::String::New(env, entry.name)},
                        {"state", Napi::String::New(env, StateName(entry.state))},
                        {"pid", NumberOf(env, entry.pid)},
                        {"ownProcess", Napi::Boolean::New(env, entry.own_process)},
                        {"acceptsStop", Napi::Boolean::New(env, entry.accepts_stop)}});
}

}  // namespace

Napi::Value Services(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::vector<ServiceEntry> entries = Guarded(env, [] { return ListServices(); });
  return ArrayOf(env, entries, [env](const ServiceEntry& entry) { return ToJs(env, entry); });
}

void StopServiceOf(const Napi::CallbackInfo& info) {
  const std::string name = TextArgument(info[0], "name");
  Guarded(info.Env(), [&] { StopService(name); });
}

}  // namespace evictd
