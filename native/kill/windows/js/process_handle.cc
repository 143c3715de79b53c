
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "js/argument.h"
#include "js/error.h"
#include "js/value.h"
#include "js/windows/objects.h"
#include "watch/windows/js/watch.h"
#include "watch/windows/watch_source.h"

namespace evictd {

namespace {

constexpr napi_type_tag kTypeTag = {0x6576696374642d77, 0x3a3a70726f636573};

constexpr int64_t kMaximum = std::numeric_limits<uint32_t>::max();

// The exit of a process.
class ProcessExit : public WatchSource {
 public:
  explicit ProcessExit(std::shared_ptr<const ProcessHandle> process) : process_(std::move(process)) {}

  HANDLE handle() const override { return process_->get(); }

  // The last event: the handle stays signalled.
  Wake OnSignalled() override {
    return static_cast<Wake>(static_cast<unsigned>(Wake::kFired) | static_cast<unsigned>(Wake::kGone));
  }

 private:
  const std::shared_ptr<const ProcessHandle> process_;
};

class ProcessHandleObject : public WatchObject<ProcessHandleObject> {
 public:
  static constexpr const char* kName = "ProcessHandle";
  static constexpr const char* kMechanism = "process_exit";

  explicit ProcessHandleObject(const Napi::CallbackInfo& info) : WatchObject(info) {
    const auto pid = static_cast<uint32_t>(IntegerArgument(info[0], "pid", 0, kMaximum));
    const uint64_t created_at = BigIntArgument(info[1], "createdAt");
    const Napi::Function on_wake = FunctionArgument(info[2], "onWake");
    Guarded(info.Env(), [&] {
      auto process = std::make_shared<ProcessHandle>(pid, created_at);
      Start(info, std::make_shared<ProcessExit>(process), on_wake, "process " + std::to_string(pid));
      process_ = std::move(process);
    });
    info.This().As<Napi::Object>().TypeTag(&kTypeTag);
  }

  void Terminate(const Napi::CallbackInfo& info) {
    const auto exit_code = static_cast<uint32_t>(IntegerArgument(info[0], "exitCode", 0, kMaximum));
    Guarded(info.Env(), [&] { process()->Terminate(exit_code); });
  }

  Napi::Value ExitCode(const Napi::CallbackInfo& info) {
    const std::optional<uint32_t> code = Guarded(info.Env(), [&] { return process()->ExitCode(); });
    return code ? NumberOf(info.Env(), *code) : info.Env().Undefined();
  }

  // GONE only ends the watch: the exit code of an ended process stays readable.
  void Close(const Napi::CallbackInfo&) {
    Stop();
    process_.reset();
  }

  const std::shared_ptr<ProcessHandle>& process() const {
    if (!process_) throw SystemError(ERROR_INVALID_HANDLE, "ProcessHandle");
    return process_;
  }

  static Napi::Function Define(Napi::Env env) {
    return WatchObject::Define(env, {InstanceMethod("terminate", &ProcessHandleObject::Terminate),
                                     InstanceMethod("exitCode", &ProcessHandleObject::ExitCode)});
  }

 private:
  std::shared_ptr<ProcessHandle> process_;
};

}  // namespace

std::shared_ptr<ProcessHandle> ProcessHandleArgument(const Napi::Value& value, const char* name) {
  const Napi::Object object = ObjectArgument(value, name);
  if (!object.CheckTypeTag(&kTypeTag)) ThrowArgumentError(value.Env(), std::string(name) + " must be a ProcessHandle");
  return Guarded(value.Env(), [&] { return ProcessHandleObject::Unwrap(object)->process(); });
}

Napi::Function DefineProcessHandle(Napi::Env env) { return ProcessHandleObject::Define(env); }

}  // namespace evictd
