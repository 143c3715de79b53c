#pragma once

#include <napi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "filesystem/filesystem_stats.h"
#include "js/argument.h"
#include "js/error.h"
#include "js/value.h"
#include "js/wake_targets.h"

namespace evictd {

// FilesystemStats for JavaScript. A pending request does not keep the event loop alive, as the filesystem may never
// answer. It does keep this object, for onDone.
//
// Derived has
// - static SystemError Closed(): the error of a request after close()
// - static void Describe(Napi::Object* reading, const FilesystemAnswer&): adds what the system reports
template <typename Derived, typename Environment>
class JsFilesystemStats : public Napi::ObjectWrap<Derived>, public WakeTarget {
 public:
  explicit JsFilesystemStats(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Derived>(info) {
    const std::string path = TextArgument(info[0], "path");
    Environment* const environment = Environment::Of(info.Env());
    Guarded(info.Env(), [&] { stats_ = std::make_shared<FilesystemStats>(path, environment->filesystem_threads()); });
    environment_ = environment;
    target_id_ = environment->Register(this);
  }

  // NOLINTNEXTLINE(bugprone-exception-escape): Node-API throws if a reference cannot be released
  ~JsFilesystemStats() override { Release(); }

  static Napi::Function Define(Napi::Env env) {
    return Derived::DefineClass(
        env, "FilesystemStats",
        {Derived::InstanceMethod("read", static_cast<Method>(&Derived::Read)),
         Derived::InstanceMethod("request", static_cast<Method>(&Derived::Request)),
         Derived::InstanceMethod("close", static_cast<void (Derived::*)(const Napi::CallbackInfo&)>(&Derived::Close))});
  }

  // Expired after close().
  std::weak_ptr<FilesystemStats> stats() const { return stats_; }

  void Deliver() override {
    TakeAnswer();
    if (answered_.empty()) return;
    const Napi::Env env = this->Env();
    const Napi::HandleScope scope(env);
    const Napi::Value self = this->Value();
    const std::vector<Napi::FunctionReference> answered = std::exchange(answered_, {});
    if (on_done_.IsEmpty()) self_.Reset();
    for (const Napi::FunctionReference& on_done : answered) {
      if (stats_) CallBack(env, self, on_done.Value(), {});  // an earlier callback may have closed it
    }
  }

  void Detach() override {
    environment_ = nullptr;
    Forget();
  }

  Napi::Value Read(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    // The last reading stays after close().
    if (stats_) last_ = stats_->Read();
    Napi::Object reading = Napi::Object::New(env);
    Derived::Describe(&reading, last_);
    reading.Set("errno", NumberOf(env, last_.error));
    reading.Set("atNs", Napi::BigInt::New(env, last_.at_ns));
    reading.Set("pending", Napi::Boolean::New(env, last_.pending));
    reading.Set("pendingSinceNs", Napi::BigInt::New(env, last_.pending_since_ns));
    return reading;
  }

  Napi::Value Request(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const bool callback = !info[0].IsUndefined();
    const Napi::Function on_done = callback ? FunctionArgument(info[0], "onDone") : Napi::Function();
    if (!stats_) throw ToJavaScript(env, Derived::Closed());
    TakeAnswer();
    const bool begun = stats_->Request();
    if (begun && callback) {
      on_done_ = Napi::Persistent(on_done);
      self_ = Napi::Persistent(info.This().As<Napi::Object>());
    }
    return Napi::Boolean::New(env, begun);
  }

  void Close(const Napi::CallbackInfo&) {
    if (stats_) last_ = stats_->Read();
    last_.pending = false;
    Release();
  }

 private:
  using Method = Napi::Value (Derived::*)(const Napi::CallbackInfo&);

  // An unread answer belongs to the previous request. Deliver calls its callback, never the request itself.
  void TakeAnswer() {
    if (stats_->TakeDone() && !on_done_.IsEmpty())
      answered_.push_back(std::exchange(on_done_, Napi::FunctionReference()));
  }

  void Release() {
    if (environment_ != nullptr) environment_->Unregister(target_id_);
    environment_ = nullptr;
    Forget();
  }

  void Forget() {
    stats_.reset();
    on_done_.Reset();
    answered_.clear();
    self_.Reset();
  }

  Environment* environment_ = nullptr;
  uint64_t target_id_ = 0;
  std::shared_ptr<FilesystemStats> stats_;  // the only strong reference
  FilesystemStats::Reading last_;
  Napi::FunctionReference on_done_;                // of the current request
  std::vector<Napi::FunctionReference> answered_;  // of answered requests
  Napi::ObjectReference self_;
};

}  // namespace evictd
