#include "linux/directory_usage.h"

#include <memory>
#include <utility>

#include "common/js_argument.h"
#include "common/js_error.h"
#include "linux/js/environment.h"
#include "linux/js/objects.h"

namespace evictd {

namespace {

// A walk does not keep the event loop alive (the directory may never answer), but it keeps this object, so that onDone
// is called.
class DirectoryUsageObject : public Napi::ObjectWrap<DirectoryUsageObject>, public WakeTarget {
 public:
  explicit DirectoryUsageObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    const std::string path = TextArgument(info[0], "path");
    const Napi::Function on_done = FunctionArgument(info[1], "onDone");
    Environment* const environment = Environment::Of(info.Env());
    Guarded(info.Env(), [&] { usage_ = std::make_unique<DirectoryUsage>(path, environment->directory_walks()); });
    environment_ = environment;
    target_id_ = environment->Register(this);
    on_done_ = Napi::Persistent(on_done);
    self_ = Napi::Persistent(info.This().As<Napi::Object>());
  }

  // Node-API throws where a reference cannot be released; nobody could go on from there.
  // NOLINTNEXTLINE(bugprone-exception-escape)
  ~DirectoryUsageObject() override { Release(); }

  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "DirectoryUsage", {InstanceMethod("close", &DirectoryUsageObject::Close)});
  }

  void Deliver() override {
    DirectoryWalk::Usage usage;
    if (!usage_->TakeDone(&usage)) return;
    const Napi::Env env = Env();
    const Napi::HandleScope scope(env);
    const Napi::Value self = Value();
    const Napi::FunctionReference on_done = std::exchange(on_done_, Napi::FunctionReference());
    Release();
    const auto number = [env](uint64_t value) { return Napi::Number::New(env, static_cast<double>(value)); };
    Napi::Object result = Napi::Object::New(env);
    result.Set("bytes", number(usage.bytes));
    result.Set("inodes", number(usage.inodes));
    result.Set("errors", number(usage.errors));
    result.Set("errno", Napi::Number::New(env, usage.first_error));
    result.Set("complete", Napi::Boolean::New(env, usage.complete));
    CallBack(env, self, on_done.Value(), {result});
  }

  void Abandon() override {
    environment_ = nullptr;
    Release();
  }

 private:
  void Close(const Napi::CallbackInfo&) { Release(); }

  void Release() {
    if (environment_ != nullptr) environment_->Unregister(target_id_);
    environment_ = nullptr;
    usage_.reset();
    on_done_.Reset();
    self_.Reset();
  }

  Environment* environment_ = nullptr;
  uint64_t target_id_ = 0;
  std::unique_ptr<DirectoryUsage> usage_;
  Napi::FunctionReference on_done_;
  Napi::ObjectReference self_;
};

}  // namespace

Napi::Function DefineDirectoryUsage(Napi::Env env) { return DirectoryUsageObject::Define(env); }

}  // namespace evictd
