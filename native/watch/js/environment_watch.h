#pragma once

#include <napi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "js/value.h"
#include "js/wake_targets.h"
#include "watch/wake_mask.h"

namespace evictd {

// The JavaScript side of a watch: owns one source in the waiter's set. A live watch holds its JavaScript object, so it
// continues without another reference.
//
// `Environment` is the system's WakeTargets with
// - Source, a WakeSource
// - uint64_t Add(std::shared_ptr<Source>): adds it to the waiter; returns an id, never 0
// - void Remove(uint64_t id): ends its calls
// - void Drop(std::shared_ptr<Source>, uint64_t id): destroys it, now or later; id 0: never added
template <typename Environment>
class EnvironmentWatch : public WakeTarget {
 public:
  using Source = typename Environment::Source;

  // NOLINTNEXTLINE(bugprone-exception-escape): Node-API throws if a reference cannot be released
  ~EnvironmentWatch() override {
    // A live watch holds its own object, so it is finalized only after the environment's end has detached it.
    if (environment_ != nullptr) Stop();
  }

  void Deliver() override {
    const WakeMask::Pending pending = source_->wakes().Take();
    if (pending.bits == 0) return;
    const Napi::Env env = on_wake_.Env();
    const Napi::HandleScope scope(env);
    // Copied: Release drops both references, and the callback may too.
    const Napi::Value self = self_.Value();
    const Napi::Function on_wake = on_wake_.Value();
    if ((pending.bits & static_cast<unsigned>(Wake::kGone)) != 0) Release();
    CallBack(env, self, on_wake,
             {NumberOf(env, pending.bits), Napi::BigInt::New(env, pending.at_ns), NumberOf(env, pending.detail)});
  }

  void Detach() override {
    environment_ = nullptr;
    source_.reset();
    on_wake_.Reset();
    self_.Reset();
  }

 protected:
  // `target`: what it watches, for status(). Throws what the waiter throws.
  void Start(const Napi::CallbackInfo& info, std::shared_ptr<Source> source, const Napi::Function& on_wake,
             std::string target) {
    target_ = std::move(target);
    Environment* const environment = Environment::Of(info.Env());
    on_wake_ = Napi::Persistent(on_wake);
    self_ = Napi::Persistent(info.This().As<Napi::Object>());
    // Registered before it can fire.
    environment_ = environment;
    target_id_ = environment->Register(this);
    source_ = source;
    environment->WatchStarted();
    try {
      watch_id_ = environment->Add(std::move(source));
    } catch (...) {
      Release();
      throw;
    }
  }

  void Stop() {
    if (!source_) return;
    environment_->Remove(watch_id_);
    Release();
  }

  bool live() const { return source_ != nullptr; }
  const std::shared_ptr<Source>& source() const { return source_; }
  // The source as the kind that Start received; null unless live.
  template <typename Kind>
  Kind* source_as() const {
    return static_cast<Kind*>(source_.get());
  }
  Environment* environment() const { return environment_; }
  uint64_t watch_id() const { return watch_id_; }

  Napi::Object StatusOf(Napi::Env env, const char* mechanism) const {
    return ObjectOf(env, {{"mechanism", Napi::String::New(env, mechanism)},
                          {"target", TextOf(env, target_)},
                          {"live", Napi::Boolean::New(env, live())},
                          {"errno", NumberOf(env, source_ ? source_->error() : error_)}});
  }

 private:
  void Release() {
    error_ = source_->error();
    environment_->Drop(std::move(source_), watch_id_);
    source_.reset();
    environment_->Unregister(target_id_);
    environment_->WatchEnded();
    on_wake_.Reset();
    self_.Reset();
  }

  Environment* environment_ = nullptr;  // null: never started, or the environment ended
  std::shared_ptr<Source> source_;
  std::string target_;
  int error_ = 0;
  uint64_t watch_id_ = 0;
  uint64_t target_id_ = 0;
  Napi::ObjectReference self_;
  Napi::FunctionReference on_wake_;
};

}  // namespace evictd
