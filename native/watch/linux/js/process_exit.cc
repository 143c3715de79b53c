#include "watch/linux/process_exit.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "js/value.h"
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
      missed_ = source->missed();
      Start(info, std::move(source), on_wake, std::to_string(pids.size()) + " processes");
    });
  }

  // 0 after close().
  Napi::Value Remaining(const Napi::CallbackInfo& info) {
    const auto* const source = source_as<ProcessExit>();
    return NumberOf(info.Env(), source == nullptr ? 0 : source->remaining());
  }

  Napi::Value Missed(const Napi::CallbackInfo& info) { return NumberOf(info.Env(), missed_); }

  static Napi::Function Define(Napi::Env env) {
    return WatchObject::Define(env, {InstanceAccessor("remaining", &ProcessExitObject::Remaining, nullptr),
                                     InstanceAccessor("missed", &ProcessExitObject::Missed, nullptr)});
  }

 private:
  size_t missed_ = 0;
};

}  // namespace

Napi::Function DefineProcessExit(Napi::Env env) { return ProcessExitObject::Define(env); }

}  // namespace evictd
