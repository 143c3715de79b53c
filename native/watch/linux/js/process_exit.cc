#include "watch/linux/process_exit.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "watch/linux/js/watch.h"

namespace evictd {

namespace {

std::vector<pid_t> PidsArgument(const Napi::Value& value, const char* name) {
  std::vector<pid_t> pids;
  for (const double number : NumbersArgument(value, name)) {
    // Not (a && b): NaN has to fail.
    if (!(number >= 0 && number <= std::numeric_limits<pid_t>::max()) || number != std::floor(number)) {
      ThrowArgumentError(value.Env(), std::string(name) + " must be process ids", true);
    }
    pids.push_back(static_cast<pid_t>(number));
  }
  return pids;
}

class ProcessExitObject : public WatchObject<ProcessExitObject> {
 public:
  static constexpr const char* kName = "ProcessExit";
  static constexpr const char* kMechanism = "process_exit";

  explicit ProcessExitObject(const Napi::CallbackInfo& info) : WatchObject(info) {
    const std::vector<pid_t> pids = PidsArgument(info[0], "pids");
    const Napi::Function on_wake = FunctionArgument(info[1], "onWake");
    Guarded(info.Env(), [&] {
      auto source = std::make_shared<ProcessExit>(pids);
      source_ = source;
      missed_ = source->missed();
      Start(info, std::move(source), on_wake, std::to_string(pids.size()) + " processes");
    });
  }

  // 0 after close().
  Napi::Value Remaining(const Napi::CallbackInfo& info) {
    const std::shared_ptr<ProcessExit> source = source_.lock();
    return Napi::Number::New(info.Env(), source ? static_cast<double>(source->remaining()) : 0);
  }

  Napi::Value Missed(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), static_cast<double>(missed_));
  }

  static Napi::Function Define(Napi::Env env) {
    return WatchObject::Define(env, {InstanceAccessor("remaining", &ProcessExitObject::Remaining, nullptr),
                                     InstanceAccessor("missed", &ProcessExitObject::Missed, nullptr)});
  }

 private:
  std::weak_ptr<ProcessExit> source_;  // weak: close() has to close its descriptors
  size_t missed_ = 0;
};

}  // namespace

Napi::Function DefineProcessExit(Napi::Env env) { return ProcessExitObject::Define(env); }

}  // namespace evictd
