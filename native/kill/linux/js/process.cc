#include "kill/linux/process.h"

#include <limits>
#include <memory>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"

namespace evictd {

namespace {

constexpr int64_t kMaximumSignal = 64;

class PidfdObject : public Napi::ObjectWrap<PidfdObject> {
 public:
  explicit PidfdObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    const pid_t pid = static_cast<pid_t>(IntegerArgument(info[0], "pid", 1, std::numeric_limits<pid_t>::max()));
    Guarded(info.Env(), [&] { process_ = std::make_unique<Process>(pid); });
  }

  static Napi::Function Define(Napi::Env env) {
    return DefineClass(
        env, "Pidfd",
        {InstanceMethod("signal", &PidfdObject::Signal), InstanceMethod("release", &PidfdObject::Release),
         InstanceMethod("close", &PidfdObject::Close)});
  }

 private:
  void Signal(const Napi::CallbackInfo& info) {
    const int signal = static_cast<int>(IntegerArgument(info[0], "signal", 0, kMaximumSignal));
    if (!process_) throw ToJavaScript(info.Env(), SystemError(EBADF, "pidfd_send_signal"));
    Guarded(info.Env(), [&] { process_->Signal(signal); });
  }

  void Release(const Napi::CallbackInfo& info) {
    if (!process_) throw ToJavaScript(info.Env(), SystemError(EBADF, "process_mrelease"));
    Guarded(info.Env(), [&] { process_->Release(); });
  }

  void Close(const Napi::CallbackInfo&) { process_.reset(); }

  std::unique_ptr<Process> process_;
};

}  // namespace

Napi::Function DefinePidfd(Napi::Env env) { return PidfdObject::Define(env); }

}  // namespace evictd
