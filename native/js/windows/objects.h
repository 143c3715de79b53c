#pragma once

#include <napi.h>

#include <memory>

#include "kill/windows/process_handle.h"

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

// The process of a ProcessHandle argument. Throws a TypeError, or ERROR_INVALID_HANDLE if it is closed.
std::shared_ptr<ProcessHandle> ProcessHandleArgument(const Napi::Value& value, const char* name);

}  // namespace evictd
