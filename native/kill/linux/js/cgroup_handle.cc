#include "kill/linux/cgroup_handle.h"

#include <memory>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "js/value.h"

namespace evictd {

namespace {

constexpr int64_t kMaximumSignal = 64;
constexpr int64_t kMaximumRounds = 1000;
constexpr int64_t kMaximumFreezeMs = 1000;

class CgroupHandleObject : public Napi::ObjectWrap<CgroupHandleObject> {
 public:
  explicit CgroupHandleObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    path_ = TextArgument(info[0], "cgroup");
    std::optional<uint64_t> id;
    if (!info[1].IsUndefined()) id = BigIntArgument(info[1], "id");
    Guarded(info.Env(), [&] { handle_ = std::make_unique<CgroupHandle>(path_, id); });
    id_ = handle_->id();
  }

  static Napi::Function Define(Napi::Env env) {
    return DefineClass(
        env, "CgroupHandle",
        {InstanceAccessor("id", &CgroupHandleObject::Id, nullptr),
         InstanceMethod("signal", &CgroupHandleObject::Signal), InstanceMethod("stop", &CgroupHandleObject::Stop),
         InstanceMethod("freeze", &CgroupHandleObject::Freeze), InstanceMethod("thaw", &CgroupHandleObject::Thaw),
         InstanceMethod("kill", &CgroupHandleObject::Kill), InstanceMethod("processes", &CgroupHandleObject::Processes),
         InstanceMethod("close", &CgroupHandleObject::Close)});
  }

 private:
  Napi::Value Id(const Napi::CallbackInfo& info) { return Napi::BigInt::New(info.Env(), id_); }

  Napi::Value Signal(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const int signal = static_cast<int>(IntegerArgument(info[0], "signal", 0, kMaximumSignal));
    const std::shared_ptr<MemoryReaper> reaper = MemoryReaperArgument(info[1], "reaper");
    const CgroupHandle::Signalled outcome = Guarded(env, [&] { return Open(env).Signal(signal, reaper.get()); });
    return ObjectOf(env, {{"found", NumberOf(env, outcome.found)},
                          {"signalled", NumberOf(env, outcome.signalled)},
                          {"errno", NumberOf(env, outcome.error)},
                          {"atNs", Napi::BigInt::New(env, outcome.at_ns)},
                          {"complete", Napi::Boolean::New(env, outcome.complete)},
                          {"emptyRounds", NumberOf(env, outcome.empty_rounds)}});
  }

  Napi::Value Stop(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const auto rounds = static_cast<size_t>(IntegerArgument(info[0], "rounds", 1, kMaximumRounds));
    const CgroupHandle::Stopped outcome = Guarded(env, [&] { return Open(env).Stop(rounds); });
    return ObjectOf(env, {{"rounds", NumberOf(env, outcome.rounds)},
                          {"settled", Napi::Boolean::New(env, outcome.settled)},
                          {"errno", NumberOf(env, outcome.error)}});
  }

  Napi::Value Freeze(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const auto limit_ms = static_cast<unsigned>(IntegerArgument(info[0], "limitMs", 0, kMaximumFreezeMs));
    return Napi::Boolean::New(env, Guarded(env, [&] { return Open(env).freezer().Freeze(limit_ms); }));
  }

  void Thaw(const Napi::CallbackInfo& info) {
    Guarded(info.Env(), [&] { Open(info.Env()).freezer().Thaw(); });
  }

  void Kill(const Napi::CallbackInfo& info) {
    Guarded(info.Env(), [&] { Open(info.Env()).Kill(); });
  }

  Napi::Value Processes(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    int error = 0;
    const std::vector<pid_t> pids = Guarded(env, [&] { return Open(env).Processes(&error); });
    if (error != 0) throw ToJavaScript(env, SystemError(error, "read", path_ + "/cgroup.procs"));
    return ArrayOfNumbers(env, pids);
  }

  void Close(const Napi::CallbackInfo&) { handle_.reset(); }

  CgroupHandle& Open(Napi::Env env) {
    if (!handle_) throw ToJavaScript(env, SystemError(EBADF, "openat", path_));
    return *handle_;
  }

  std::string path_;
  std::unique_ptr<CgroupHandle> handle_;
  uint64_t id_ = 0;
};

}  // namespace

Napi::Function DefineCgroupHandle(Napi::Env env) { return CgroupHandleObject::Define(env); }

}  // namespace evictd
