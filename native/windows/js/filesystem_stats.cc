#include "windows/filesystem_stats.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/js_argument.h"
#include "common/js_error.h"
#include "windows/js/environment.h"
#include "windows/js/objects.h"

namespace evictd {

namespace {

constexpr const char* kSyscall = "GetDiskFreeSpaceEx";

// A pending request does not keep the event loop alive (the volume may never answer), but it keeps this object, so
// that onDone is called.
class FilesystemStatsObject : public Napi::ObjectWrap<FilesystemStatsObject>, public WakeTarget {
 public:
  explicit FilesystemStatsObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    const std::string path = TextArgument(info[0], "path");
    Environment* const environment = Environment::Of(info.Env());
    Guarded(info.Env(), [&] { stats_ = std::make_unique<FilesystemStats>(path, environment->filesystem_threads()); });
    environment_ = environment;
    target_id_ = environment->Register(this);
  }

  // Node-API throws where a reference cannot be released; nobody could go on from there.
  // NOLINTNEXTLINE(bugprone-exception-escape)
  ~FilesystemStatsObject() override { Release(); }

  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "FilesystemStats",
                       {InstanceMethod("read", &FilesystemStatsObject::Read),
                        InstanceMethod("request", &FilesystemStatsObject::Request),
                        InstanceMethod("close", &FilesystemStatsObject::Close)});
  }

  void Deliver() override {
    TakeAnswer();
    if (answered_.empty()) return;
    const Napi::Env env = Env();
    const Napi::HandleScope scope(env);
    const Napi::Value self = Value();
    const std::vector<Napi::FunctionReference> answered = std::exchange(answered_, {});
    if (on_done_.IsEmpty()) self_.Reset();
    for (const Napi::FunctionReference& on_done : answered) {
      if (stats_) CallBack(env, self, on_done.Value(), {});  // unless the one before has closed it
    }
  }

  void Abandon() override {
    environment_ = nullptr;
    stats_.reset();
    on_done_.Reset();
    answered_.clear();
    self_.Reset();
  }

 private:
  Napi::Value Read(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    // After close() the last reading stays.
    if (stats_) last_ = stats_->Read();
    const auto integer = [env](uint64_t value) { return Napi::BigInt::New(env, value); };
    Napi::Object reading = Napi::Object::New(env);
    reading.Set("totalBytes", integer(last_.total_bytes));
    reading.Set("freeBytes", integer(last_.free_bytes));
    reading.Set("availableBytes", integer(last_.available_bytes));
    reading.Set("errno", Napi::Number::New(env, last_.error));
    reading.Set("atNs", Napi::BigInt::New(env, last_.at_ns));
    reading.Set("pending", Napi::Boolean::New(env, last_.pending));
    reading.Set("pendingSinceNs", Napi::BigInt::New(env, last_.pending_since_ns));
    return reading;
  }

  Napi::Value Request(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const bool callback = !info[0].IsUndefined();
    const Napi::Function on_done = callback ? FunctionArgument(info[0], "onDone") : Napi::Function();
    if (!stats_) throw ToJavaScript(env, SystemError(ERROR_INVALID_HANDLE, kSyscall));
    TakeAnswer();
    const bool begun = stats_->Request();
    if (begun && callback) {
      on_done_ = Napi::Persistent(on_done);
      self_ = Napi::Persistent(info.This().As<Napi::Object>());
    }
    return Napi::Boolean::New(env, begun);
  }

  // An answer that came but was not yet passed on belongs to the request before the next one. Its callback is called in
  // its turn, never from inside a call: the bell has rung for it.
  void TakeAnswer() {
    if (stats_->TakeDone() && !on_done_.IsEmpty())
      answered_.push_back(std::exchange(on_done_, Napi::FunctionReference()));
  }

  void Close(const Napi::CallbackInfo&) {
    if (stats_) last_ = stats_->Read();
    last_.pending = false;
    Release();
  }

  void Release() {
    if (environment_ != nullptr) environment_->Unregister(target_id_);
    environment_ = nullptr;
    stats_.reset();
    on_done_.Reset();
    answered_.clear();
    self_.Reset();
  }

  Environment* environment_ = nullptr;
  uint64_t target_id_ = 0;
  std::unique_ptr<FilesystemStats> stats_;
  FilesystemStats::Reading last_;
  Napi::FunctionReference on_done_;                // of the request that is under way
  std::vector<Napi::FunctionReference> answered_;  // of those whose answer has come
  Napi::ObjectReference self_;
};

}  // namespace

Napi::Function DefineFilesystemStats(Napi::Env env) { return FilesystemStatsObject::Define(env); }

}  // namespace evictd
