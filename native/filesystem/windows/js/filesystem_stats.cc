#include <windows.h>

#include "filesystem/js/filesystem_stats_object.h"
#include "js/windows/environment.h"
#include "js/windows/objects.h"

namespace evictd {

namespace {

class FilesystemStatsObject : public JsFilesystemStats<FilesystemStatsObject, Environment> {
 public:
  using JsFilesystemStats::JsFilesystemStats;

  static SystemError Closed() { return {ERROR_INVALID_HANDLE, "GetDiskFreeSpaceEx"}; }

  static void Describe(Napi::Object* reading, const FilesystemAnswer& answer) {
    const Napi::Env env = reading->Env();
    reading->Set("totalBytes", Napi::BigInt::New(env, answer.total_bytes));
    reading->Set("freeBytes", Napi::BigInt::New(env, answer.free_bytes));
    reading->Set("availableBytes", Napi::BigInt::New(env, answer.available_bytes));
  }
};

}  // namespace

Napi::Function DefineFilesystemStats(Napi::Env env) { return FilesystemStatsObject::Define(env); }

}  // namespace evictd
