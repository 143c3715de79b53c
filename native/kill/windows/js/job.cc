#include "kill/windows/job.h"

#include <limits>
#include <memory>
#include <optional>

#include "js/argument.h"
#include "js/error.h"
#include "js/value.h"
#include "js/windows/objects.h"

namespace evictd {

namespace {

constexpr int64_t kMaximum = std::numeric_limits<uint32_t>::max();

std::optional<uint64_t> BytesOf(const Napi::Object& limits, const char* name) {
  const Napi::Value value = limits.Get(name);
  if (value.IsUndefined()) return std::nullopt;
  return BigIntArgument(value, name);
}

JobLimitChange ChangeArgument(const Napi::Value& value) {
  const Napi::Object limits = ObjectArgument(value, "limits");
  JobLimitChange change;
  change.commit_bytes = BytesOf(limits, "commitBytes");
  change.commit_bytes_per_process = BytesOf(limits, "commitBytesPerProcess");
  const Napi::Value active = limits.Get("activeProcesses");
  if (!active.IsUndefined()) {
    change.active_processes = static_cast<uint32_t>(IntegerArgument(active, "activeProcesses", 0, kMaximum));
  }
  return change;
}

class JobObject : public Napi::ObjectWrap<JobObject> {
 public:
  explicit JobObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    name_ = TextArgument(info[0], "name");
    const Job::Mode mode = info[1].ToBoolean() ? Job::Mode::kCreate : Job::Mode::kOpen;
    Guarded(info.Env(), [&] { job_ = std::make_unique<Job>(name_, mode); });
  }

  static Napi::Function Define(Napi::Env env) {
    return DefineClass(
        env, "Job",
        {InstanceMethod("processes", &JobObject::Processes), InstanceMethod("accounting", &JobObject::Accounting),
         InstanceMethod("limits", &JobObject::Limits), InstanceMethod("setLimits", &JobObject::SetLimits),
         InstanceMethod("assign", &JobObject::Assign), InstanceMethod("terminate", &JobObject::Terminate),
         InstanceMethod("close", &JobObject::Close)});
  }

 private:
  Napi::Value Processes(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const std::vector<uint32_t> pids = Guarded(env, [&] { return Open().Processes(); });
    return ArrayOfNumbers(env, pids);
  }

  Napi::Value Accounting(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const Job::Accounting accounting = Guarded(env, [&] { return Open().ReadAccounting(); });
    return ObjectOf(env, {{"activeProcesses", NumberOf(env, accounting.active_processes)},
                          {"totalProcesses", NumberOf(env, accounting.total_processes)},
                          {"cpuTimeNs", Napi::BigInt::New(env, accounting.cpu_time_ns)},
                          {"peakCommitBytes", Napi::BigInt::New(env, accounting.peak_commit_bytes)}});
  }

  Napi::Value Limits(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const JobLimits limits = Guarded(env, [&] { return Open().Limits(); });
    return ObjectOf(env, {{"commitBytes", Napi::BigInt::New(env, limits.commit_bytes)},
                          {"commitBytesPerProcess", Napi::BigInt::New(env, limits.commit_bytes_per_process)},
                          {"activeProcesses", NumberOf(env, limits.active_processes)}});
  }

  void SetLimits(const Napi::CallbackInfo& info) {
    const JobLimitChange change = ChangeArgument(info[0]);
    Guarded(info.Env(), [&] { Open().SetLimits(change); });
  }

  void Assign(const Napi::CallbackInfo& info) {
    const std::shared_ptr<ProcessHandle> process = ProcessHandleArgument(info[0], "process");
    Guarded(info.Env(), [&] { Open().Assign(process->OpenForJob().get()); });
  }

  void Terminate(const Napi::CallbackInfo& info) {
    const auto exit_code = static_cast<uint32_t>(IntegerArgument(info[0], "exitCode", 0, kMaximum));
    Guarded(info.Env(), [&] { Open().Terminate(exit_code); });
  }

  void Close(const Napi::CallbackInfo&) { job_.reset(); }

  Job& Open() {
    if (!job_) throw SystemError(ERROR_INVALID_HANDLE, "Job", name_);
    return *job_;
  }

  std::string name_;
  std::unique_ptr<Job> job_;
};

}  // namespace

Napi::Function DefineJob(Napi::Env env) { return JobObject::Define(env); }

}  // namespace evictd
