#include "read/windows/process_list.h"

#include "js/error.h"
#include "js/windows/objects.h"

namespace evictd {

namespace {

Napi::Object ToJs(Napi::Env env, const ProcessEntry& entry) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("pid", Napi::Number::New(env, entry.pid));
  object.Set("parentPid", Napi::Number::New(env, entry.parent_pid));
  object.Set("name", Napi::String::New(env, entry.name));
  object.Set("errno", Napi::Number::New(env, entry.error));
  object.Set("createdAt", Napi::BigInt::New(env, entry.created_at));
  object.Set("path", Napi::String::New(env, entry.path));
  object.Set("workingSetBytes", Napi::BigInt::New(env, entry.working_set_bytes));
  object.Set("privateBytes", Napi::BigInt::New(env, entry.private_bytes));
  object.Set("cpuTimeNs", Napi::BigInt::New(env, entry.cpu_time_ns));
  object.Set("sessionId", Napi::Number::New(env, entry.session_id));
  object.Set("critical", Napi::Boolean::New(env, entry.critical));
  return object;
}

}  // namespace

Napi::Value Processes(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::vector<ProcessEntry> entries = Guarded(env, [] { return ListProcesses(); });
  Napi::Array result = Napi::Array::New(env, entries.size());
  for (uint32_t i = 0; i < entries.size(); i++) result.Set(i, ToJs(env, entries[i]));
  return result;
}

}  // namespace evictd
