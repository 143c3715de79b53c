#include "watch/linux/psi_trigger.h"

#include <memory>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "watch/linux/js/watch.h"

namespace evictd {

namespace {

constexpr int64_t kMaximumPsiUs = 3600LL * 1000 * 1000;

class PsiTriggerObject : public WatchObject<PsiTriggerObject> {
 public:
  static constexpr const char* kName = "PsiTrigger";
  static constexpr const char* kMechanism = "psi_trigger";

  explicit PsiTriggerObject(const Napi::CallbackInfo& info) : WatchObject(info) {
    const std::string file = TextArgument(info[0], "file");
    const Napi::Object trigger = ObjectArgument(info[1], "trigger");
    const std::string kind = TextArgument(trigger.Get("kind"), "kind");
    if (kind != "some" && kind != "full") ThrowArgumentError(info.Env(), "kind must be some or full, not " + kind);
    const int64_t stall_us = IntegerArgument(trigger.Get("stallUs"), "stallUs", 1, kMaximumPsiUs);
    const int64_t window_us = IntegerArgument(trigger.Get("windowUs"), "windowUs", 1, kMaximumPsiUs);
    const Napi::Function on_wake = FunctionArgument(info[2], "onWake");
    Guarded(info.Env(), [&] {
      const PsiTrigger::Kind parsed = kind == "some" ? PsiTrigger::Kind::kSome : PsiTrigger::Kind::kFull;
      Start(
          info,
          std::make_shared<PsiTrigger>(file, parsed, static_cast<uint64_t>(stall_us), static_cast<uint64_t>(window_us)),
          on_wake, file);
    });
  }
};

}  // namespace

Napi::Function DefinePsiTrigger(Napi::Env env) { return PsiTriggerObject::Define(env); }

}  // namespace evictd
