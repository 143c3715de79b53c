#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "common/js_argument.h"
#include "common/js_error.h"
#include "linux/deadline_sampler.h"
#include "linux/js/file_spec.h"
#include "linux/js/watch_object.h"
#include "linux/memcg_events.h"
#include "linux/memcg_threshold.h"
#include "linux/psi_trigger.h"

namespace evictd {

namespace {

constexpr double kMaximumIntervalMs = 24.0 * 3600 * 1000;
constexpr int64_t kMaximumPsiUs = 3600LL * 1000 * 1000;

class MemcgThresholdObject : public WatchObject<MemcgThresholdObject> {
 public:
  static constexpr const char* kName = "MemcgThreshold";

  explicit MemcgThresholdObject(const Napi::CallbackInfo& info) : WatchObject(info) {
    const std::string cgroup = TextArgument(info[0], "cgroup");
    const uint64_t usage_bytes = BigIntArgument(info[1], "usageBytes");
    const Napi::Function on_wake = FunctionArgument(info[2], "onWake");
    Guarded(info.Env(), [&] { Start(info, std::make_shared<MemcgThreshold>(cgroup, usage_bytes), on_wake); });
  }
};

class PsiTriggerObject : public WatchObject<PsiTriggerObject> {
 public:
  static constexpr const char* kName = "PsiTrigger";

  explicit PsiTriggerObject(const Napi::CallbackInfo& info) : WatchObject(info) {
    const std::string file = TextArgument(info[0], "file");
    const Napi::Object trigger = ObjectArgument(info[1], "trigger");
    const std::string kind = TextArgument(trigger.Get("kind"), "kind");
    if (kind != "some" && kind != "full") ThrowArgumentError(info.Env(), "kind must be some or full, not " + kind);
    const int64_t stall_us = IntegerArgument(trigger.Get("stallUs"), "stallUs", 1, kMaximumPsiUs);
    const int64_t window_us = IntegerArgument(trigger.Get("windowUs"), "windowUs", 1, kMaximumPsiUs);
    const Napi::Function on_wake = FunctionArgument(info[2], "onWake");
    Guarded(info.Env(), [&] {
      const PsiTrigger::Kind parsed = kind == "some" ? PsiTrigger::Kind::kSome : PsiTrigger::Kind::kFull;
      Start(
          info,
          std::make_shared<PsiTrigger>(file, parsed, static_cast<uint64_t>(stall_us), static_cast<uint64_t>(window_us)),
          on_wake);
    });
  }
};

class MemcgEventsObject : public WatchObject<MemcgEventsObject> {
 public:
  static constexpr const char* kName = "MemcgEvents";

  explicit MemcgEventsObject(const Napi::CallbackInfo& info) : WatchObject(info) {
    const std::string cgroup = TextArgument(info[0], "cgroup");
    const std::string file = TextArgument(info[1], "file");
    if (file != "memory.events" && file != "memory.events.local" && file != "cgroup.events") {
      ThrowArgumentError(info.Env(), "file must be memory.events, memory.events.local or cgroup.events, not " + file);
    }
    const Napi::Function on_wake = FunctionArgument(info[2], "onWake");
    Guarded(info.Env(), [&] { Start(info, std::make_shared<MemcgEvents>(cgroup, file), on_wake); });
  }
};

class SamplerObject : public WatchObject<SamplerObject> {
 public:
  static constexpr const char* kName = "Sampler";

  explicit SamplerObject(const Napi::CallbackInfo& info) : WatchObject(info) {
    const Napi::Object options = ObjectArgument(info[0], "options");
    std::vector<FileSpec> files = FileSpecsArgument(options.Get("files"), "files");
    std::vector<double> weights = NumbersArgument(options.Get("weights"), "weights");
    size_t fields = 0;
    for (const FileSpec& spec : files) fields += spec.fields();
    if (fields == 0 || fields != weights.size()) {
      ThrowArgumentError(info.Env(), "weights must have one number per field: " + std::to_string(fields), true);
    }
    const double interval_ms = NumberArgument(options.Get("intervalMs"), "intervalMs");
    // Not (a && b): NaN has to fail.
    if (!(interval_ms >= 1 && interval_ms <= kMaximumIntervalMs)) {
      ThrowArgumentError(info.Env(), "intervalMs must be from 1 to 86400000", true);
    }
    std::vector<double> limits = NumbersArgument(options.Get("limits"), "limits");
    const Napi::Function on_wake = FunctionArgument(info[1], "onWake");
    Guarded(info.Env(), [&] {
      const uint64_t interval_ns = static_cast<uint64_t>(std::llround(interval_ms * 1e6));
      auto sampler =
          std::make_shared<DeadlineSampler>(std::move(files), std::move(weights), interval_ns, std::move(limits));
      sampler_ = sampler;
      Start(info, std::move(sampler), on_wake);
    });
  }

  // After close() or GONE it has no effect.
  void SetLimits(const Napi::CallbackInfo& info) {
    std::vector<double> limits = NumbersArgument(info[0], "limits");
    if (const std::shared_ptr<DeadlineSampler> sampler = sampler_.lock()) sampler->SetLimits(std::move(limits));
  }

  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, kName,
                       {InstanceAccessor("live", &SamplerObject::Live, nullptr),
                        InstanceMethod("close", static_cast<void (SamplerObject::*)(const Napi::CallbackInfo&)>(
                                                    &SamplerObject::Close)),
                        InstanceMethod("setLimits", &SamplerObject::SetLimits)});
  }

 private:
  std::weak_ptr<DeadlineSampler> sampler_;  // the watch owns it: close() has to free its descriptors
};

}  // namespace

Napi::Function DefineMemcgThreshold(Napi::Env env) { return MemcgThresholdObject::Define(env); }
Napi::Function DefinePsiTrigger(Napi::Env env) { return PsiTriggerObject::Define(env); }
Napi::Function DefineMemcgEvents(Napi::Env env) { return MemcgEventsObject::Define(env); }
Napi::Function DefineSampler(Napi::Env env) { return SamplerObject::Define(env); }

}  // namespace evictd
