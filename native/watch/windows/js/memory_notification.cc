#include "watch/windows/memory_notification.h"

#include <memory>
#include <string>

#include "js/argument.h"
#include "js/error.h"
#include "js/windows/objects.h"
#include "watch/windows/js/watch.h"

namespace evictd {

namespace {

class MemoryNotificationObject : public WatchObject<MemoryNotificationObject> {
 public:
  static constexpr const char* kName = "MemoryNotification";
  static constexpr const char* kMechanism = "memory_notification";

  explicit MemoryNotificationObject(const Napi::CallbackInfo& info) : WatchObject(info) {
    const std::string kind = TextArgument(info[0], "kind");
    if (kind != "low" && kind != "high") ThrowArgumentError(info.Env(), "kind must be low or high, not " + kind);
    const Napi::Function on_wake = FunctionArgument(info[1], "onWake");
    Guarded(info.Env(), [&] {
      Start(info,
            std::make_shared<MemoryNotification>(kind == "low" ? LowMemoryResourceNotification
                                                               : HighMemoryResourceNotification),
            on_wake, kind);
    });
  }

  Napi::Value IsSet(const Napi::CallbackInfo& info) {
    const auto* const notification = source_as<MemoryNotification>();
    return Napi::Boolean::New(info.Env(),
                              Guarded(info.Env(), [&] { return notification != nullptr && notification->IsSet(); }));
  }

  static Napi::Function Define(Napi::Env env) {
    return WatchObject::Define(env, {InstanceMethod("isSet", &MemoryNotificationObject::IsSet)});
  }
};

}  // namespace

Napi::Function DefineMemoryNotification(Napi::Env env) { return MemoryNotificationObject::Define(env); }

}  // namespace evictd
