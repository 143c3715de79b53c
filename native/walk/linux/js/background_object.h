#pragma once

#include <napi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/environment.h"
#include "walk/linux/background_walk.h"

namespace evictd {

// A JavaScript class that reads in the background: `new Kind(subject, onDone)`, `close()`. It does not keep the event
// loop alive, as the read may never end. It does keep this object, for onDone.
//
// Kind has kName, Result, Reading (a BackgroundReading), Begin(info, environment) → unique_ptr<Reading> and ToJs(env,
// result).
template <typename Kind>
class BackgroundObject : public Napi::ObjectWrap<BackgroundObject<Kind>>, public WakeTarget {
  using Wrap = Napi::ObjectWrap<BackgroundObject<Kind>>;

 public:
  explicit BackgroundObject(const Napi::CallbackInfo& info) : Wrap(info) {
    const Napi::Function on_done = FunctionArgument(info[1], "onDone");
    Environment* const environment = Environment::Of(info.Env());
    reading_ = Kind::Begin(info, environment);
    environment_ = environment;
    target_id_ = environment->Register(this);
    on_done_ = Napi::Persistent(on_done);
    self_ = Napi::Persistent(info.This().As<Napi::Object>());
  }

  // NOLINTNEXTLINE(bugprone-exception-escape): Node-API throws if a reference cannot be released
  ~BackgroundObject() override { Release(); }

  static Napi::Function Define(Napi::Env env) {
    return Wrap::DefineClass(env, Kind::kName, {Wrap::InstanceMethod("close", &BackgroundObject::Close)});
  }

  void Deliver() override {
    typename Kind::Result result;
    if (!reading_->TakeDone(&result)) return;
    const Napi::Env env = this->Env();
    const Napi::HandleScope scope(env);
    const Napi::Value self = this->Value();
    const Napi::FunctionReference on_done = std::exchange(on_done_, Napi::FunctionReference());
    Release();
    CallBack(env, self, on_done.Value(), {Kind::ToJs(env, result)});
  }

  void Detach() override {
    environment_ = nullptr;
    Release();
  }

 private:
  void Close(const Napi::CallbackInfo&) { Release(); }

  void Release() {
    if (environment_ != nullptr) environment_->Unregister(target_id_);
    environment_ = nullptr;
    reading_.reset();
    on_done_.Reset();
    self_.Reset();
  }

  Environment* environment_ = nullptr;
  uint64_t target_id_ = 0;
  std::unique_ptr<typename Kind::Reading> reading_;
  Napi::FunctionReference on_done_;
  Napi::ObjectReference self_;
};

// The function for Begin: runs work(cancelled) → Result. `what`: for an error.
template <typename Result, typename Work>
std::unique_ptr<BackgroundReading<Result>> InBackground(const Napi::CallbackInfo& info, const std::string& what,
                                                        Work work, BackgroundWalks* walks) {
  return Guarded(info.Env(), [&] { return std::make_unique<BackgroundReading<Result>>(what, std::move(work), walks); });
}

}  // namespace evictd
