
#include <cerrno>
#include <string>

#include "filesystem/js/filesystem_stats_object.h"
#include "js/linux/environment.h"
#include "js/linux/objects.h"
#include "js/value.h"

namespace evictd {

namespace {

constexpr napi_type_tag kTypeTag = {0x6576696374642d66, 0x733a3a7374617473};

class FilesystemStatsObject : public JsFilesystemStats<FilesystemStatsObject, Environment> {
 public:
  explicit FilesystemStatsObject(const Napi::CallbackInfo& info) : JsFilesystemStats(info) {
    info.This().As<Napi::Object>().TypeTag(&kTypeTag);
  }

  static SystemError Closed() { return {EBADF, "statfs"}; }

  static void Describe(Napi::Object* reading, const FilesystemAnswer& answer) {
    const Napi::Env env = reading->Env();
    const auto number = [env](uint64_t value) { return NumberOf(env, value); };
    reading->Set("totalBytes", number(answer.total_bytes));
    reading->Set("freeBytes", number(answer.free_bytes));
    reading->Set("availableBytes", number(answer.available_bytes));
    reading->Set("inodes", number(answer.inodes));
    reading->Set("inodesFree", number(answer.inodes_free));
    reading->Set("fsType", number(answer.type));
    reading->Set("device", Napi::BigInt::New(env, answer.device));
  }
};

}  // namespace

std::weak_ptr<FilesystemStats> FilesystemStatsArgument(const Napi::Value& value, const char* name) {
  const Napi::Object object = ObjectArgument(value, name);
  if (!object.CheckTypeTag(&kTypeTag)) {
    ThrowArgumentError(value.Env(), std::string(name) + " must be a FilesystemStats");
  }
  std::weak_ptr<FilesystemStats> stats = FilesystemStatsObject::Unwrap(object)->stats();
  if (stats.expired()) throw ToJavaScript(value.Env(), FilesystemStatsObject::Closed());
  return stats;
}

Napi::Function DefineFilesystemStats(Napi::Env env) { return FilesystemStatsObject::Define(env); }

}  // namespace evictd
