#pragma once

#include <napi.h>

#include <vector>

namespace evictd {

// The system's EnvironmentWatch, in its js/watch.h.
class Watch;

// Derived has kName, the class's name, and kMechanism, for status().
template <typename Derived, typename SystemWatch = Watch>
class WatchObject : public Napi::ObjectWrap<Derived>, public SystemWatch {
 public:
  explicit WatchObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Derived>(info) {}

  Napi::Value Live(const Napi::CallbackInfo& info) { return Napi::Boolean::New(info.Env(), this->live()); }
  void Close(const Napi::CallbackInfo&) { this->Stop(); }
  Napi::Value Status(const Napi::CallbackInfo& info) { return this->StatusOf(info.Env(), Derived::kMechanism); }

  // `more`: the members of this kind of watch.
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
