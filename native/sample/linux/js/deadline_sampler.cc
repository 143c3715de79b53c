#include "sample/linux/deadline_sampler.h"

#include <cmath>
#include <string>
#include <utility>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "js/value.h"
#include "sample/linux/file_sum.h"
#include "sample/linux/filesystem_value.h"
#include "watch/linux/js/watch.h"

namespace evictd {

namespace {

constexpr double kShortestMs = 1;
constexpr double kLongestMs = 24.0 * 3600 * 1000;
constexpr double kMinimumMs = 1;
constexpr double kMaximumMs = 10'000;

// One number per field of the files.
std::vector<double> WeightsArgument(const Napi::Object& object, size_t fields) {
  std::vector<double> weights = NumbersArgument(object.Get("weights"), "weights");
  if (fields == 0 || fields != weights.size()) {
    ThrowArgumentError(object.Env(), "weights must have one number per field: " + std::to_string(fields), true);
  }
  return weights;
}

std::vector<FileSum::Reclaimable> ReclaimableArgument(const Napi::Value& value, size_t fields) {
  if (value.IsUndefined()) return {};
  if (!value.IsArray()) ThrowArgumentError(value.Env(), "reclaimable must be an array");
  const Napi::Array array = value.As<Napi::Array>();
  std::vector<FileSum::Reclaimable> parts;
  for (uint32_t i = 0; i < array.Length(); i++) {
    const Napi::Object part = ObjectArgument(array.Get(i), "reclaimable");
    parts.push_back({WeightsArgument(part, fields), NumberArgument(part.Get("kept"), "kept")});
  }
  return parts;
}

std::unique_ptr<SampledValue> FilesystemArgument(const Napi::Object& options) {
  const std::string field = TextArgument(options.Get("field"), "field");
  if (field != "availableBytes" && field != "inodesFree") {
    ThrowArgumentError(options.Env(), "field must be availableBytes or inodesFree, not " + field);
  }
  const std::weak_ptr<FilesystemStats> stats = FilesystemStatsArgument(options.Get("filesystem"), "filesystem");
  const auto which =
      field == "inodesFree" ? FilesystemValue::Field::kInodesFree : FilesystemValue::Field::kAvailableBytes;
  return Guarded(options.Env(), [&] { return std::make_unique<FilesystemValue>(stats, which); });
}

// The period in nanoseconds, `otherwise` by default.
uint64_t PeriodArgument(const Napi::Object& options, const char* name, double otherwise) {
  const Napi::Value given = options.Get(name);
  const double ms = given.IsUndefined() ? otherwise : NumberArgument(given, name);
  // Not (a || b): NaN has to fail.
  if (!(ms >= kShortestMs && ms <= kLongestMs)) {
    ThrowArgumentError(options.Env(), std::string(name) + " must be from 1 to 86400000", true);
  }
  return static_cast<uint64_t>(std::llround(ms * 1e6));
}

double RateArgument(const Napi::Object& options, const char* name) {
  const double rate = NumberArgument(options.Get(name), name);
  if (!(rate > 0 && std::isfinite(rate))) {
    ThrowArgumentError(options.Env(), std::string(name) + " must be a finite number above 0", true);
  }
  return rate;
}

class SamplerObject : public WatchObject<SamplerObject> {
 public:
  static constexpr const char* kName = "Sampler";
  static constexpr const char* kMechanism = "sampler";

  explicit SamplerObject(const Napi::CallbackInfo& info) : WatchObject(info) {
    const Napi::Object options = ObjectArgument(info[0], "options");
    const double rate = RateArgument(options, "maxRatePerSecond");
    SamplingPeriod period = {PeriodArgument(options, "minPeriodMs", kMinimumMs),
                             PeriodArgument(options, "maxPeriodMs", kMaximumMs)};
    if (!options.Get("restPeriodMs").IsUndefined()) period.rest_ns = PeriodArgument(options, "restPeriodMs", 0);
    if (!options.Get("restRatePerSecond").IsUndefined()) {
      period.rest_per_second = RateArgument(options, "restRatePerSecond");
    }
    if (period.minimum_ns > period.maximum_ns) {
      ThrowArgumentError(info.Env(), "minPeriodMs must not be above maxPeriodMs", true);
    }
    const std::vector<double> limits = NumbersArgument(options.Get("limits"), "limits");
    const Napi::Value distance = options.Get("noticeDistance");
    const double notice = distance.IsUndefined() ? 0 : NumberArgument(distance, "noticeDistance");
    const Napi::Function on_wake = FunctionArgument(info[1], "onWake");
    const bool files = options.Get("filesystem").IsUndefined();
    std::unique_ptr<SampledValue> value = files ? FileSumArgument(options) : FilesystemArgument(options);
    const std::string target = files ? FileSpecsArgument(options.Get("files"), "files")[0].path
                                     : TextArgument(options.Get("field"), "field") + " of a filesystem";
    Guarded(info.Env(), [&] {
      Start(info, std::make_shared<DeadlineSampler>(std::move(value), rate, period, limits, notice), on_wake, target);
    });
  }

  static Napi::Function Define(Napi::Env env) {
    return WatchObject::Define(
        env, {InstanceMethod("setLimits", &SamplerObject::SetLimits), InstanceMethod("seen", &SamplerObject::Seen)});
  }

  Napi::Value Status(const Napi::CallbackInfo& info) {
    Napi::Object status = StatusOf(info.Env(), kMechanism);
    const auto* const sampler = source_as<DeadlineSampler>();
    status.Set("periodMs",
               NumberOf(info.Env(), sampler == nullptr ? 0 : static_cast<double>(sampler->period_ns()) / 1e6));
    return status;
  }

 private:
  // No effect after close() or GONE.
  void SetLimits(const Napi::CallbackInfo& info) {
    const std::vector<double> limits = NumbersArgument(info[0], "limits");
    if (auto* const sampler = source_as<DeadlineSampler>()) sampler->SetLimits(limits);
  }
  void Seen(const Napi::CallbackInfo& info) {
    const double value = NumberArgument(info[0], "value");
    if (auto* const sampler = source_as<DeadlineSampler>()) sampler->Seen(value);
  }
};

}  // namespace

std::unique_ptr<SampledValue> FileSumArgument(const Napi::Object& options) {
  std::vector<FileSpec> files = FileSpecsArgument(options.Get("files"), "files");
  size_t fields = 0;
  for (const FileSpec& spec : files) fields += spec.fields();
  std::vector<double> weights = WeightsArgument(options, fields);
  std::vector<FileSum::Reclaimable> reclaimable = ReclaimableArgument(options.Get("reclaimable"), fields);
  return Guarded(options.Env(), [&] {
    return std::make_unique<FileSum>(std::move(files), std::move(weights), std::move(reclaimable));
  });
}

Napi::Function DefineSampler(Napi::Env env) { return SamplerObject::Define(env); }

}  // namespace evictd
