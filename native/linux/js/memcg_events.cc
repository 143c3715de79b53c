#include "linux/memcg_events.h"

#include <memory>
#include <string>

#include "common/js_argument.h"
#include "common/js_error.h"
#include "linux/js/objects.h"
#include "linux/js/watch_object.h"

namespace evictd {

namespace {

class MemcgEventsObject : public WatchObject<MemcgEventsObject> {
 public:
  static constexpr const char* kName = "MemcgEvents";
  static constexpr const char* kMechanism = "memcg_events";

  explicit MemcgEventsObject(const Napi::CallbackInfo& info) : WatchObject(info) {
    const std::string cgroup = TextArgument(info[0], "cgroup");
    const std::string file = TextArgument(info[1], "file");
    if (file != "memory.events" && file != "memory.events.local" && file != "cgroup.events") {
      ThrowArgumentError(info.Env(), "file must be memory.events, memory.events.local or cgroup.events, not " + file);
    }
    const Napi::Function on_wake = FunctionArgument(info[2], "onWake");
    Guarded(info.Env(),
            [&] { Start(info, std::make_shared<MemcgEvents>(cgroup, file), on_wake, cgroup + "/" + file); });
  }
};

}  // namespace

Napi::Function DefineMemcgEvents(Napi::Env env) { return MemcgEventsObject::Define(env); }

}  // namespace evictd
