#include "watch/linux/memcg_threshold.h"

#include <memory>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "watch/linux/js/watch.h"

namespace evictd {

namespace {

class MemcgThresholdObject : public WatchObject<MemcgThresholdObject> {
 public:
  static constexpr const char* kName = "MemcgThreshold";
  static constexpr const char* kMechanism = "memcg_threshold";

  explicit MemcgThresholdObject(const Napi::CallbackInfo& info) : WatchObject(info) {
    const std::string cgroup = TextArgument(info[0], "cgroup");
    const uint64_t usage_bytes = BigIntArgument(info[1], "usageBytes");
    const Napi::Function on_wake = FunctionArgument(info[2], "onWake");
    Guarded(info.Env(), [&] {
      Start(info, std::make_shared<MemcgThreshold>(cgroup, usage_bytes), on_wake, cgroup);
      ArmSoon();
    });
  }

  // No effect after close() or GONE.
  void Move(const Napi::CallbackInfo& info) {
    const uint64_t usage_bytes = BigIntArgument(info[0], "usageBytes");
    if (auto* const threshold = source_as<MemcgThreshold>()) threshold->Want(usage_bytes);
    ArmSoon();
  }

  Napi::Value Armed(const Napi::CallbackInfo& info) {
    const auto* const threshold = source_as<MemcgThreshold>();
    uint64_t usage_bytes = 0;
    if (threshold == nullptr || !threshold->Registered(&usage_bytes)) return info.Env().Undefined();
    return Napi::BigInt::New(info.Env(), usage_bytes);
  }

  static Napi::Function Define(Napi::Env env) {
    return WatchObject::Define(env, {InstanceMethod("move", &MemcgThresholdObject::Move),
                                     InstanceAccessor("armed", &MemcgThresholdObject::Armed, nullptr)});
  }
};

}  // namespace

Napi::Function DefineMemcgThreshold(Napi::Env env) { return MemcgThresholdObject::Define(env); }

}  // namespace evictd
