#ifndef EVICTD_LINUX_JS_WATCH_OBJECT_H_
#define EVICTD_LINUX_JS_WATCH_OBJECT_H_

#include <napi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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
  // `target`: what it watches, for people. Throws what the waiter throws.
  void Start(const Napi::CallbackInfo& info, std::shared_ptr<WatchSource> source, const Napi::Function& on_wake,
             std::string target);
  void Stop();
  bool live() const { return source_ != nullptr; }
  uint64_t watch_id() const { return watch_id_; }
  // The armer calls source->Arm; nothing happens where the watch is not live.
  void ArmSoon();
  Napi::Value StatusOf(Napi::Env env, const char* mechanism) const;

 private:
  void Release();

  Environment* environment_ = nullptr;  // null: never started, or the environment ended
  std::shared_ptr<WatchSource> source_;
  std::string target_;
  int error_ = 0;
  uint64_t watch_id_ = 0;
  uint64_t target_id_ = 0;
  Napi::ObjectReference self_;
  Napi::FunctionReference on_wake_;
};

// Derived has kName, the class's name, and kMechanism, what status() calls it.
template <typename Derived>
class WatchObject : public Napi::ObjectWrap<Derived>, public Watch {
 public:
  explicit WatchObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Derived>(info) {}

  Napi::Value Live(const Napi::CallbackInfo& info) { return Napi::Boolean::New(info.Env(), live()); }
  void Close(const Napi::CallbackInfo&) { Stop(); }
  Napi::Value Status(const Napi::CallbackInfo& info) { return StatusOf(info.Env(), Derived::kMechanism); }

  // `more`: what this kind of watch has beside what all have.
  static Napi::Function Define(Napi::Env env, std::vector<Napi::ClassPropertyDescriptor<Derived>> more = {}) {
    more.push_back(Derived::InstanceAccessor("live", &Derived::Live, nullptr));
    more.push_back(
        Derived::InstanceMethod("close", static_cast<void (Derived::*)(const Napi::CallbackInfo&)>(&Derived::Close)));
    more.push_back(Derived::InstanceMethod(
        "status", static_cast<Napi::Value (Derived::*)(const Napi::CallbackInfo&)>(&Derived::Status)));
    return Derived::DefineClass(env, Derived::kName, more);
  }
};

}  // namespace evictd

#endif  // EVICTD_LINUX_JS_WATCH_OBJECT_H_
