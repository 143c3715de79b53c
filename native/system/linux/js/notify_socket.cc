#include "system/linux/notify_socket.h"

#include <memory>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "js/value.h"

namespace evictd {

namespace {

class NotifySocketObject : public Napi::ObjectWrap<NotifySocketObject> {
 public:
  explicit NotifySocketObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    const std::string address = TextArgument(info[0], "address");
    Guarded(info.Env(), [&] { socket_ = std::make_unique<NotifySocket>(address); });
  }

  static Napi::Function Define(Napi::Env env) {
    return DefineClass(
        env, "NotifySocket",
        {InstanceMethod("notify", &NotifySocketObject::Notify), InstanceMethod("close", &NotifySocketObject::Close)});
  }

 private:
  Napi::Value Notify(const Napi::CallbackInfo& info) {
    const std::string state = TextArgument(info[0], "state");
    return NumberOf(info.Env(), socket_ ? socket_->Notify(state) : EBADF);
  }

  void Close(const Napi::CallbackInfo&) { socket_.reset(); }

  std::unique_ptr<NotifySocket> socket_;
};

}  // namespace

Napi::Function DefineNotifySocket(Napi::Env env) { return NotifySocketObject::Define(env); }

}  // namespace evictd
