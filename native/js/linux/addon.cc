#include <napi.h>
#include <unistd.h>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/environment.h"
#include "js/linux/objects.h"
#include "js/value.h"
#include "sample/linux/deadline_sampler.h"
#include "sample/linux/measured_fill.h"
#include "system/linux/locked_text.h"
#include "watch/linux/js/watch.h"
#include "watch/linux/memcg_threshold.h"
#include "watch/linux/oom_control.h"

namespace evictd {

namespace {

void ExitNow(const Napi::CallbackInfo& info) { _exit(static_cast<int>(IntegerArgument(info[0], "code", 0, 255))); }

Napi::Value LockMachineCode(const Napi::CallbackInfo& info) {
  const LockedText locked = LockText();
  return ObjectOf(info.Env(),
                  {{"bytes", NumberOf(info.Env(), locked.bytes)}, {"errno", NumberOf(info.Env(), locked.error)}});
}

Napi::Value SetWaiterRealtime(const Napi::CallbackInfo& info) {
  return Guarded(info.Env(), [&] { return NumberOf(info.Env(), Environment::Of(info.Env())->waiter().SetRealtime()); });
}

Napi::Value MeasuredFill(const Napi::CallbackInfo& info) {
  return Guarded(info.Env(), [&] { return NumberOf(info.Env(), MeasureFill()); });
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  Environment::Create(env);
  ExportShared<Environment>(env, exports);
  exports.Set("THRESHOLD", Bits(env, {{"MOVED", MemcgThreshold::kMoved}, {"REFUSED", MemcgThreshold::kRefused}}));
  Napi::Object events = Napi::Object::New(env);
  unsigned bit = 1;
  for (const char* name : {"LOW", "HIGH", "MAX", "OOM", "OOM_KILL", "OOM_GROUP_KILL", "POPULATED", "FROZEN"}) {
    events.Set(name, NumberOf(env, bit));
    bit <<= 1;
  }
  exports.Set("EVENTS", events);
  exports.Set("OOM", Bits(env, {{"UNDER_OOM", OomControl::kUnderOom}, {"OOM_KILL", OomControl::kOomKill}}));
  exports.Set("SAMPLER",
              Bits(env, {{"APPROACHING", DeadlineSampler::kApproaching}, {"CROSSED", DeadlineSampler::kCrossed}}));
  exports.Set("MemcgThreshold", DefineMemcgThreshold(env));
  exports.Set("PsiTrigger", DefinePsiTrigger(env));
  exports.Set("MemcgEvents", DefineMemcgEvents(env));
  exports.Set("OomControl", DefineOomControl(env));
  exports.Set("Sampler", DefineSampler(env));
  exports.Set("CgroupTree", DefineCgroupTree(env));
  exports.Set("ProcessExit", DefineProcessExit(env));
  exports.Set("KernelLog", DefineKernelLog(env));
  exports.Set("StandingOrder", DefineStandingOrder(env));
  exports.Set("FileReader", DefineFileReader(env));
  exports.Set("CgroupTable", DefineCgroupTable(env));
  exports.Set("FilesystemStats", DefineFilesystemStats(env));
  exports.Set("DeletedFiles", DefineDeletedFiles(env));
  exports.Set("DirectoryUsage", DefineDirectoryUsage(env));
  exports.Set("FilesystemTree", DefineFilesystemTree(env));
  exports.Set("CgroupHandle", DefineCgroupHandle(env));
  exports.Set("Pidfd", DefinePidfd(env));
  exports.Set("MemoryReaper", DefineMemoryReaper(env));
  exports.Set("ChildProgram", DefineChildProgram(env));
  exports.Set("FileStatuses", DefineFileStatuses(env));
  exports.Set("NotifySocket", DefineNotifySocket(env));
  DefineFileCalls(env, exports);
  exports.Set("lockText", Napi::Function::New(env, LockMachineCode, "lockText"));
  exports.Set("setWaiterRealtime", Napi::Function::New(env, SetWaiterRealtime, "setWaiterRealtime"));
  exports.Set("measureFill", Napi::Function::New(env, MeasuredFill, "measureFill"));
  exports.Set("exitNow", Napi::Function::New(env, ExitNow, "exitNow"));
  exports.Set("parseOomRecords", Napi::Function::New(env, ParseOomRecords, "parseOomRecords"));
  return exports;
}

}  // namespace

NODE_API_MODULE(evictd, Init)

}  // namespace evictd
