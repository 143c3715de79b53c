#include "kill/windows/job.h"

#include <limits>
#include <memory>

#include "js/argument.h"
#include "js/error.h"
#include "js/value.h"
#include "js/windows/objects.h"

namespace evictd {

namespace {

constexpr int64_t kMaximum = std::numeric_limits<uint32_t>::max();

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
        {InstanceMethod("processes", &JobObject::Processes), InstanceMethod("commitLimit", &JobObject::CommitLimit),
         InstanceMethod("setCommitLimit", &JobObject::SetCommitLimit), InstanceMethod("assign", &JobObject::Assign),
         InstanceMethod("terminate", &JobObject::Terminate), InstanceMethod("close", &JobObject::Close)});
  }

 private:
  Napi::Value Processes(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const std::vector<uint32_t> pids = Guarded(env, [&] { return Open().Processes(); });
    return ArrayOfNumbers(env, pids);
  }

  Napi::Value CommitLimit(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    return Napi::BigInt::New(env, Guarded(env, [&] { return Open().CommitLimit(); }));
  }

  void SetCommitLimit(const Napi::CallbackInfo& info) {
    const uint64_t bytes = BigIntArgument(info[0], "bytes");
    Guarded(info.Env(), [&] { Open().SetCommitLimit(bytes); });
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
