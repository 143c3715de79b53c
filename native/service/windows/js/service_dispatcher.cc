#include "service/windows/service_dispatcher.h"

#include <limits>
#include <utility>

#include "js/argument.h"
#include "js/error.h"
#include "js/value.h"
#include "js/windows/environment.h"
#include "js/windows/objects.h"

namespace evictd {

namespace {

constexpr int64_t kMaximum = std::numeric_limits<uint32_t>::max();

DWORD StateArgument(const Napi::Value& value) {
  const std::string state = TextArgument(value, "state");
  for (const auto& [name, number] :
       {std::pair("start-pending", SERVICE_START_PENDING), std::pair("running", SERVICE_RUNNING),
        std::pair("stop-pending", SERVICE_STOP_PENDING), std::pair("stopped", SERVICE_STOPPED)}) {
    if (state == name) return static_cast<DWORD>(number);
  }
  ThrowArgumentError(value.Env(), "state must be start-pending, running, stop-pending or stopped", true);
}

DWORD OptionOf(const Napi::Value& options, const char* name) {
  if (options.IsUndefined()) return 0;
  const Napi::Value value = ObjectArgument(options, "options").Get(name);
  return value.IsUndefined() ? 0 : static_cast<DWORD>(IntegerArgument(value, name, 0, kMaximum));
}

class ServiceDispatcherObject : public Napi::ObjectWrap<ServiceDispatcherObject>, public WakeTarget {
 public:
  explicit ServiceDispatcherObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    const std::string name = TextArgument(info[0], "name");
    const Napi::Function on_control = FunctionArgument(info[1], "onControl");
    Environment* const environment = Environment::Of(info.Env());
    Guarded(info.Env(), [&] {
      auto dispatcher = std::make_shared<ServiceDispatcher>(name, environment->waker());
      dispatcher->Start();
      dispatcher_ = std::move(dispatcher);
    });
    on_control_ = Napi::Persistent(on_control);
    self_ = Napi::Persistent(info.This().As<Napi::Object>());
    environment_ = environment;
    target_id_ = environment->Register(this);
    environment->WatchStarted();
  }

  // NOLINTNEXTLINE(bugprone-exception-escape): Node-API throws if a reference cannot be released
  ~ServiceDispatcherObject() override { End(); }

  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "ServiceDispatcher",
                       {InstanceMethod("errno", &ServiceDispatcherObject::Error),
                        InstanceMethod("report", &ServiceDispatcherObject::Report),
                        InstanceMethod("close", &ServiceDispatcherObject::Close)});
  }

  void Deliver() override {
    const unsigned controls = dispatcher_->TakeControls();
    if (controls == 0) return;
    const Napi::Env env = Env();
    const Napi::HandleScope scope(env);
    const Napi::Value self = self_.Value();
    const Napi::Function on_control = on_control_.Value();
    if ((controls & ServiceDispatcher::kFailed) != 0) Release();
    for (const auto& [bit, name] :
         {std::pair(ServiceDispatcher::kFailed, "failed"), std::pair(ServiceDispatcher::kStart, "start"),
          std::pair(ServiceDispatcher::kStop, "stop"), std::pair(ServiceDispatcher::kShutdown, "shutdown")}) {
      // An earlier callback may have closed it.
      if ((controls & bit) != 0 && (environment_ != nullptr || bit == ServiceDispatcher::kFailed)) {
        CallBack(env, self, on_control, {Napi::String::New(env, name)});
      }
    }
  }

  void Detach() override {
    dispatcher_->Close();
    environment_ = nullptr;
    on_control_.Reset();
    self_.Reset();
  }

 private:
  Napi::Value Error(const Napi::CallbackInfo& info) { return NumberOf(info.Env(), dispatcher_->error()); }

  void Report(const Napi::CallbackInfo& info) {
    const DWORD state = StateArgument(info[0]);
    const DWORD wait_hint_ms = OptionOf(info[1], "waitHintMs");
    const DWORD exit_code = OptionOf(info[1], "exitCode");
    Guarded(info.Env(), [&] { dispatcher_->Report(state, wait_hint_ms, exit_code); });
    if (state == SERVICE_STOPPED) Release();
  }

  void Close(const Napi::CallbackInfo&) { End(); }

  void End() {
    if (dispatcher_) dispatcher_->Close();
    Release();
  }

  // No longer keeps the event loop alive.
  void Release() {
    if (environment_ == nullptr) return;
    environment_->Unregister(target_id_);
    environment_->WatchEnded();
    environment_ = nullptr;
    on_control_.Reset();
    self_.Reset();
  }

  Environment* environment_ = nullptr;  // null after the end
  uint64_t target_id_ = 0;
  std::shared_ptr<ServiceDispatcher> dispatcher_;
  Napi::FunctionReference on_control_;
  Napi::ObjectReference self_;
};

}  // namespace

Napi::Function DefineServiceDispatcher(Napi::Env env) { return ServiceDispatcherObject::Define(env); }

}  // namespace evictd
