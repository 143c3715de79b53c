
#include <memory>
#include <string>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "js/value.h"

namespace evictd {

namespace {

// Distinguishes these objects from those of other classes before unwrapping.
constexpr napi_type_tag kTag = {0x6576696374642d72, 0x65617065722d7631};

class MemoryReaperObject : public Napi::ObjectWrap<MemoryReaperObject> {
 public:
  explicit MemoryReaperObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    Guarded(info.Env(), [&] { reaper_ = std::make_shared<MemoryReaper>(); });
    Value().TypeTag(&kTag);
  }

  static Napi::Function Define(Napi::Env env) {
    return DefineClass(
        env, "MemoryReaper",
        {InstanceMethod("counts", &MemoryReaperObject::Counts), InstanceMethod("close", &MemoryReaperObject::Close)});
  }

  const std::shared_ptr<MemoryReaper>& reaper() const { return reaper_; }

 private:
  Napi::Value Counts(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (reaper_) last_ = reaper_->counts();
    return ObjectOf(env, {{"released", NumberOf(env, last_.released)}, {"errno", NumberOf(env, last_.error)}});
  }

  void Close(const Napi::CallbackInfo&) {
    if (reaper_) last_ = reaper_->counts();
    reaper_.reset();
  }

  std::shared_ptr<MemoryReaper> reaper_;
  MemoryReaper::Counts last_;
};

}  // namespace

std::shared_ptr<MemoryReaper> MemoryReaperArgument(const Napi::Value& value, const char* name) {
  if (value.IsUndefined()) return nullptr;
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kTag)) {
    ThrowArgumentError(value.Env(), std::string("The \"") + name + "\" argument must be a MemoryReaper");
  }
  return MemoryReaperObject::Unwrap(value.As<Napi::Object>())->reaper();
}

Napi::Function DefineMemoryReaper(Napi::Env env) { return MemoryReaperObject::Define(env); }

}  // namespace evictd
