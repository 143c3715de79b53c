#include "linux/deadline_sampler.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "common/js_argument.h"
#include "common/js_error.h"
#include "linux/js/file_spec.h"
#include "linux/js/objects.h"
#include "linux/js/watch_object.h"

namespace evictd {

namespace {

constexpr double kMaximumIntervalMs = 24.0 * 3600 * 1000;

class SamplerObject : public WatchObject<SamplerObject> {
 public:
  static constexpr const char* kName = "Sampler";
  static constexpr const char* kMechanism = "sampler";

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
    const std::string target = files[0].path;
    Guarded(info.Env(), [&] {
      const uint64_t interval_ns = static_cast<uint64_t>(std::llround(interval_ms * 1e6));
      auto sampler =
          std::make_shared<DeadlineSampler>(std::move(files), std::move(weights), interval_ns, std::move(limits));
      sampler_ = sampler;
      Start(info, std::move(sampler), on_wake, target);
    });
  }

  // After close() or GONE it has no effect.
  void SetLimits(const Napi::CallbackInfo& info) {
    std::vector<double> limits = NumbersArgument(info[0], "limits");
    if (const std::shared_ptr<DeadlineSampler> sampler = sampler_.lock()) sampler->SetLimits(std::move(limits));
  }

  static Napi::Function Define(Napi::Env env) {
    return WatchObject::Define(env, {InstanceMethod("setLimits", &SamplerObject::SetLimits)});
  }

 private:
  std::weak_ptr<DeadlineSampler> sampler_;  // the watch owns it: close() has to free its descriptors
};

}  // namespace

Napi::Function DefineSampler(Napi::Env env) { return SamplerObject::Define(env); }

}  // namespace evictd
