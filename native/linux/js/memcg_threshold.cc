#include "linux/memcg_threshold.h"

#include <memory>
#include <string>

#include "common/js_argument.h"
#include "common/js_error.h"
#include "linux/js/objects.h"
#include "linux/js/watch_object.h"

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
    Guarded(info.Env(), [&] { Start(info, std::make_shared<MemcgThreshold>(cgroup, usage_bytes), on_wake, cgroup); });
  }
};

}  // namespace

Napi::Function DefineMemcgThreshold(Napi::Env env) { return MemcgThresholdObject::Define(env); }

}  // namespace evictd
