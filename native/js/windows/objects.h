#pragma once

#include <napi.h>

namespace evictd {

// What the addon exports, each defined in the file of its name. First the watches.
Napi::Function DefineMemoryNotification(Napi::Env env);
Napi::Function DefineProcessHandle(Napi::Env env);

Napi::Function DefineFilesystemStats(Napi::Env env);
Napi::Function DefineJob(Napi::Env env);
Napi::Function DefineServiceDispatcher(Napi::Env env);

Napi::Value Processes(const Napi::CallbackInfo& info);
Napi::Value Services(const Napi::CallbackInfo& info);
void StopServiceOf(const Napi::CallbackInfo& info);
Napi::Value DebugPrivilege(const Napi::CallbackInfo& info);
Napi::Value PerformanceInfo(const Napi::CallbackInfo& info);

}  // namespace evictd
