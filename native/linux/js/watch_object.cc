#include "linux/js/watch_object.h"

#include <utility>

namespace evictd {

// Node-API throws where a reference cannot be released; nobody could go on from there.
// NOLINTNEXTLINE(bugprone-exception-escape)
Watch::~Watch() {
  // A live watch holds its own object, so it is finalized only after the environment's end, which abandoned it.
  if (environment_ != nullptr) Stop();
}

void Watch::Start(const Napi::CallbackInfo& info, std::shared_ptr<WatchSource> source, const Napi::Function& on_wake,
                  std::string target) {
  target_ = std::move(target);
  Environment* const environment = Environment::Of(info.Env());
  on_wake_ = Napi::Persistent(on_wake);
  self_ = Napi::Persistent(info.This().As<Napi::Object>());
  // Registered before it can fire: what rings finds it.
  environment_ = environment;
  target_id_ = environment->Register(this);
  source_ = source;
  environment->WatchStarted();
  try {
    watch_id_ = environment->waiter().Add(std::move(source));
  } catch (...) {
    Release();
    throw;
  }
}

void Watch::Stop() {
  if (!source_) return;
  environment_->waiter().Remove(watch_id_);
  Release();
}

void Watch::ArmSoon() {
  if (source_) environment_->armer().Arm(source_, watch_id_);
}

Napi::Value Watch::StatusOf(Napi::Env env, const char* mechanism) const {
  Napi::Object status = Napi::Object::New(env);
  status.Set("mechanism", Napi::String::New(env, mechanism));
  status.Set("target", Napi::String::New(env, target_));
  status.Set("live", Napi::Boolean::New(env, live()));
  status.Set("errno", Napi::Number::New(env, source_ ? source_->error() : error_));
  return status;
}

void Watch::Release() {
  error_ = source_->error();
  const bool left = watch_id_ != 0 && source_->LeftToArmer();
  std::shared_ptr<WatchSource> source = std::move(source_);
  if (left) environment_->armer().Release(std::move(source));
  source.reset();
  environment_->Unregister(target_id_);
  environment_->WatchEnded();
  on_wake_.Reset();
  self_.Reset();
}

void Watch::Deliver() {
  const WakeMask::Pending pending = source_->wakes().Take();
  if (pending.bits == 0) return;
  const Napi::Env env = on_wake_.Env();
  const Napi::HandleScope scope(env);
  // Held here: Release drops both references, and so may the callback.
  const Napi::Value self = self_.Value();
  const Napi::Function on_wake = on_wake_.Value();
  if ((pending.bits & static_cast<unsigned>(Wake::kGone)) != 0) Release();
  CallBack(env, self, on_wake,
           {Napi::Number::New(env, pending.bits), Napi::BigInt::New(env, pending.at_ns),
            Napi::Number::New(env, pending.detail)});
}

void Watch::Abandon() {
  environment_ = nullptr;
  source_.reset();
  on_wake_.Reset();
  self_.Reset();
}

}  // namespace evictd
