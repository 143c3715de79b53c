#include "read/windows/process_list.h"

#include "js/error.h"
#include "js/value.h"
#include "js/windows/objects.h"

namespace evictd {

namespace {

Napi::Object ToJs(Napi::Env env, const ProcessEntry& entry) {
  return ObjectOf(env, {{"pid", NumberOf(env, entry.pid)},
                        {"parentPid", NumberOf(env, entry.parent_pid)},
                        {"name", Napi::String::New(env, entry.name)},
                        {"errno", NumberOf(env, entry.error)},
                        {"createdAt", Napi::BigInt::New(env, entry.created_at)},
                        {"path", Napi::String::New(env, entry.path)},
                        {"workingSetBytes", Napi::BigInt::New(env, entry.working_set_bytes)},
                        {"privateBytes", Napi::BigInt::New(env, entry.private_bytes)},
                        {"cpuTimeNs", Napi::BigInt::New(env, entry.cpu_time_ns)},
                        {"critical", Napi::Boolean::New(env, entry.critical)}});
}

}  // namespace

Napi::Value Processes(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::vector<ProcessEntry> entries = Guarded(env, [] { return ListProcesses(); });
  return ArrayOf(env, entries, [env](const ProcessEntry& entry) { return ToJs(env, entry); });
}

}  // namespace evictd
