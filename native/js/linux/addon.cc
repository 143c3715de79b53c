#include <napi.h>
#include <unistd.h>

#include "js/argument.h"
#include "js/linux/environment.h"
#include "js/linux/objects.h"
#include "js/value.h"
#include "sample/linux/deadline_sampler.h"
#include "system/linux/locked_text.h"
#include "watch/linux/js/watch.h"
#include "watch/linux/memcg_threshold.h"
#include "watch/linux/oom_control.h"

namespace {

void ExitNow(const Napi::CallbackInfo& info) {
  _exit(static_cast<int>(evictd::IntegerArgument(info[0], "code", 0, 255)));
}

Napi::Value LockText(const Napi::CallbackInfo& info) {
  const evictd::LockedText locked = evictd::LockText();
  return evictd::ObjectOf(info.Env(), {{"bytes", evictd::NumberOf(info.Env(), locked.bytes)},
                                       {"errno", evictd::NumberOf(info.Env(), locked.error)}});
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  evictd::Environment::Create(env);
  using evictd::Bits;
  using evictd::DeadlineSampler;
  using evictd::MemcgThreshold;
  using evictd::OomControl;
  evictd::ExportShared<evictd::Environment>(env, exports);
  exports.Set("THRESHOLD", Bits(env, {{"MOVED", MemcgThreshold::kMoved}, {"REFUSED", MemcgThreshold::kRefused}}));
  exports.Set("EVENTS", Bits(env, {{"LOW", 1},
                                   {"HIGH", 2},
                                   {"MAX", 4},
                                   {"OOM", 8},
                                   {"OOM_KILL", 16},
                                   {"OOM_GROUP_KILL", 32},
                                   {"POPULATED", 64},
                                   {"FROZEN", 128}}));
  exports.Set("OOM", Bits(env, {{"UNDER_OOM", OomControl::kUnderOom}, {"OOM_KILL", OomControl::kOomKill}}));
  exports.Set("SAMPLER",
              Bits(env, {{"APPROACHING", DeadlineSampler::kApproaching}, {"CROSSED", DeadlineSampler::kCrossed}}));
  exports.Set("MemcgThreshold", evictd::DefineMemcgThreshold(env));
  exports.Set("PsiTrigger", evictd::DefinePsiTrigger(env));
  exports.Set("MemcgEvents", evictd::DefineMemcgEvents(env));
  exports.Set("OomControl", evictd::DefineOomControl(env));
  exports.Set("Sampler", evictd::DefineSampler(env));
  exports.Set("CgroupTree", evictd::DefineCgroupTree(env));
  exports.Set("ProcessExit", evictd::DefineProcessExit(env));
  exports.Set("KernelLog", evictd::DefineKernelLog(env));
  exports.Set("FileReader", evictd::DefineFileReader(env));
  exports.Set("CgroupTable", evictd::DefineCgroupTable(env));
  exports.Set("FilesystemStats", evictd::DefineFilesystemStats(env));
  exports.Set("DeletedFiles", evictd::DefineDeletedFiles(env));
  exports.Set("DirectoryUsage", evictd::DefineDirectoryUsage(env));
  exports.Set("FilesystemTree", evictd::DefineFilesystemTree(env));
  exports.Set("CgroupHandle", evictd::DefineCgroupHandle(env));
  exports.Set("Pidfd", evictd::DefinePidfd(env));
  exports.Set("MemoryReaper", evictd::DefineMemoryReaper(env));
  exports.Set("NotifySocket", evictd::DefineNotifySocket(env));
  evictd::DefineFileCalls(env, exports);
  exports.Set("lockText", Napi::Function::New(env, LockText, "lockText"));
  exports.Set("exitNow", Napi::Function::New(env, ExitNow, "exitNow"));
  exports.Set("parseOomRecords", Napi::Function::New(env, evictd::ParseOomRecords, "parseOomRecords"));
  return exports;
}

}  // namespace

NODE_API_MODULE(evictd, Init)
