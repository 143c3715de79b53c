#include "watch/linux/memcg_events.h"

#include <cmath>
#include <memory>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "js/value.h"
#include "watch/linux/js/watch.h"

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
    Guarded(info.Env(), [&] {
      Start(info, std::make_shared<MemcgEvents>(cgroup, file), on_wake, cgroup + "/" + file);
      KeepCounters();
    });
  }

  // The counters; after close() or GONE the last values.
  Napi::Value Counters(const Napi::CallbackInfo& info) {
    KeepCounters();
    Napi::Object counters = Napi::Object::New(info.Env());
    for (size_t i = 0; i < counters_.size(); i++) {
      if (!std::isnan(counters_[i])) counters.Set(MemcgEvents::kCounters[i], NumberOf(info.Env(), counters_[i]));
    }
    return counters;
  }

  static Napi::Function Define(Napi::Env env) {
    return WatchObject::Define(env, {InstanceMethod("counters", &MemcgEventsObject::Counters)});
  }

 private:
  void KeepCounters() {
    const auto* const events = source_as<MemcgEvents>();
    if (events == nullptr) return;
    for (size_t i = 0; i < counters_.size(); i++) counters_[i] = events->Counter(i);
  }

  std::array<double, MemcgEvents::kCounters.size()> counters_;
};

}  // namespace

Napi::Function DefineMemcgEvents(Napi::Env env) { return MemcgEventsObject::Define(env); }

}  // namespace evictd
