#ifndef EVICTD_LINUX_JS_WATCH_OBJECT_H_
#define EVICTD_LINUX_JS_WATCH_OBJECT_H_

#include <napi.h>

#include <cstdint>
#include <memory>

#include "linux/js/environment.h"
#include "linux/waiter.h"

namespace evictd {

// What all watches have in common on JavaScript's side: the owner of one source in the waiter's set. While live it
// holds its JavaScript object, so that a watch that nobody kept a reference to goes on.
class Watch : public WakeTarget {
 public:
  ~Watch() override;

  void Deliver() override;
  void Abandon() override;

 protected:
  // Throws what the waiter throws.
  void Start(const Napi::CallbackInfo& info, std::shared_ptr<WatchSource> source, const Napi::Function& on_wake);
  void Stop();
  bool live() const { return source_ != nullptr; }

 private:
  void Release();

  Environment* environment_ = nullptr;  // null: never started, or the environment ended
  std::shared_ptr<WatchSource> source_;
  uint64_t watch_id_ = 0;
  uint64_t target_id_ = 0;
  Napi::ObjectReference self_;
  Napi::FunctionReference on_wake_;
};

template <typename Derived>
class WatchObject : public Napi::ObjectWrap<Derived>, public Watch {
 public:
  explicit WatchObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Derived>(info) {}

  Napi::Value Live(const Napi::CallbackInfo& info) { return Napi::Boolean::New(info.Env(), live()); }
  void Close(const Napi::CallbackInfo&) { Stop(); }

  static Napi::Function Define(Napi::Env env) {
    return Derived::DefineClass(
        env, Derived::kName,
        {Derived::InstanceAccessor("live", &Derived::Live, nullptr),
         Derived::InstanceMethod("close", static_cast<void (Derived::*)(const Napi::CallbackInfo&)>(&Derived::Close))});
  }
};

Napi::Function DefineMemcgThreshold(Napi::Env env);
Napi::Function DefinePsiTrigger(Napi::Env env);
Napi::Function DefineMemcgEvents(Napi::Env env);
Napi::Function DefineSampler(Napi::Env env);

}  // namespace evictd

#endif  // EVICTD_LINUX_JS_WATCH_OBJECT_H_
