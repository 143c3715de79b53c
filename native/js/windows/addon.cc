#include <napi.h>
#include <windows.h>

#include <cstdint>
#include <limits>

#include "js/argument.h"
#include "js/windows/environment.h"
#include "js/windows/objects.h"

namespace {

// Not ExitProcess: that notifies every DLL under a lock which a terminated thread may hold.
void ExitNow(const Napi::CallbackInfo& info) {
  const int64_t code = evictd::IntegerArgument(info[0], "code", 0, std::numeric_limits<uint32_t>::max());
  TerminateProcess(GetCurrentProcess(), static_cast<UINT>(code));
}

// Pins the addon: the end of a worker would unload it while a hanging thread still has to return to its code.
void StayLoaded() {
  HMODULE self = nullptr;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                     reinterpret_cast<LPCWSTR>(&StayLoaded), &self);
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  StayLoaded();
  evictd::Environment::Create(env);
  evictd::ExportShared<evictd::Environment>(env, exports);
  exports.Set("MemoryNotification", evictd::DefineMemoryNotification(env));
  exports.Set("ProcessHandle", evictd::DefineProcessHandle(env));
  exports.Set("Job", evictd::DefineJob(env));
  exports.Set("ServiceDispatcher", evictd::DefineServiceDispatcher(env));
  exports.Set("processes", Napi::Function::New(env, evictd::Processes, "processes"));
  exports.Set("services", Napi::Function::New(env, evictd::Services, "services"));
  exports.Set("stopService", Napi::Function::New(env, evictd::StopServiceOf, "stopService"));
  exports.Set("enableDebugPrivilege", Napi::Function::New(env, evictd::DebugPrivilege, "enableDebugPrivilege"));
  exports.Set("performanceInfo", Napi::Function::New(env, evictd::PerformanceInfo, "performanceInfo"));
  exports.Set("FilesystemStats", evictd::DefineFilesystemStats(env));
  exports.Set("exitNow", Napi::Function::New(env, ExitNow, "exitNow"));
  return exports;
}

}  // namespace

NODE_API_MODULE(evictd, Init)
