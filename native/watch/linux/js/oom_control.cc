#include "watch/linux/oom_control.h"

#include <memory>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "watch/linux/js/watch.h"

namespace evictd {

namespace {

class OomControlObject : public WatchObject<OomControlObject> {
 public:
  static constexpr const char* kName = "OomControl";
  static constexpr const char* kMechanism = "memcg_oom";

  explicit OomControlObject(const Napi::CallbackInfo& info) : WatchObject(info) {
    const std::string cgroup = TextArgument(info[0], "cgroup");
    const Napi::Function on_wake = FunctionArgument(info[1], "onWake");
    Guarded(info.Env(), [&] { Start(info, std::make_shared<OomControl>(cgroup), on_wake, cgroup); });
  }
};

}  // namespace

Napi::Function DefineOomControl(Napi::Env env) { return OomControlObject::Define(env); }

}  // namespace evictd
