#include <napi.h>
#include <unistd.h>

#include "common/js_argument.h"
#include "common/wake_mask.h"
#include "linux/deadline_sampler.h"
#include "linux/js/environment.h"
#include "linux/js/objects.h"
#include "linux/js/watch_object.h"

namespace {

void ExitNow(const Napi::CallbackInfo& info) {
  _exit(static_cast<int>(evictd::IntegerArgument(info[0], "code", 0, 255)));
}

Napi::Value WatchCount(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(evictd::Environment::Of(info.Env())->watch_count()));
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  evictd::Environment::Create(env);
  Napi::Object wake = Napi::Object::New(env);
  wake.Set("FIRED", Napi::Number::New(env, static_cast<unsigned>(evictd::Wake::kFired)));
  wake.Set("GONE", Napi::Number::New(env, static_cast<unsigned>(evictd::Wake::kGone)));
  exports.Set("WAKE", wake);
  Napi::Object sampler = Napi::Object::New(env);
  sampler.Set("APPROACHING", Napi::Number::New(env, evictd::DeadlineSampler::kApproaching));
  sampler.Set("CROSSED", Napi::Number::New(env, evictd::DeadlineSampler::kCrossed));
  exports.Set("SAMPLER", sampler);
  exports.Set("MemcgThreshold", evictd::DefineMemcgThreshold(env));
  exports.Set("PsiTrigger", evictd::DefinePsiTrigger(env));
  exports.Set("MemcgEvents", evictd::DefineMemcgEvents(env));
  exports.Set("Sampler", evictd::DefineSampler(env));
  exports.Set("CgroupTree", evictd::DefineCgroupTree(env));
  exports.Set("ProcessExit", evictd::DefineProcessExit(env));
  exports.Set("KernelLog", evictd::DefineKernelLog(env));
  exports.Set("FileReader", evictd::DefineFileReader(env));
  exports.Set("CgroupTable", evictd::DefineCgroupTable(env));
  exports.Set("FilesystemStats", evictd::DefineFilesystemStats(env));
  exports.Set("DirectoryUsage", evictd::DefineDirectoryUsage(env));
  exports.Set("CgroupHandle", evictd::DefineCgroupHandle(env));
  exports.Set("Pidfd", evictd::DefinePidfd(env));
  exports.Set("FileLock", evictd::DefineFileLock(env));
  evictd::DefineFileCalls(env, exports);
  exports.Set("exitNow", Napi::Function::New(env, ExitNow, "exitNow"));
  exports.Set("parseOomRecords", Napi::Function::New(env, evictd::ParseOomRecords, "parseOomRecords"));
  exports.Set("watchCount", Napi::Function::New(env, WatchCount, "watchCount"));
  return exports;
}

}  // namespace

NODE_API_MODULE(evictd, Init)
