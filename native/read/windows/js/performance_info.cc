#include "read/windows/performance_info.h"

#include <initializer_list>
#include <utility>

#include "js/argument.h"
#include "js/error.h"
#include "js/windows/objects.h"

namespace evictd {

Napi::Value PerformanceInfo(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  // Limited to the structure: the system writes as many bytes as it is given.
  const int64_t size = info[0].IsUndefined() ? sizeof(PERFORMANCE_INFORMATION)
                                             : IntegerArgument(info[0], "size", 0, sizeof(PERFORMANCE_INFORMATION));
  const PERFORMANCE_INFORMATION read = Guarded(env, [&] { return ReadPerformanceInfo(static_cast<uint32_t>(size)); });
  Napi::Object result = Napi::Object::New(env);
  for (const auto& [name, number] : std::initializer_list<std::pair<const char*, uint64_t>>{
           {"commitTotal", read.CommitTotal},
           {"commitLimit", read.CommitLimit},
           {"commitPeak", read.CommitPeak},
           {"physicalTotal", read.PhysicalTotal},
           {"physicalAvailable", read.PhysicalAvailable},
           {"systemCache", read.SystemCache},
           {"kernelTotal", read.KernelTotal},
           {"kernelPaged", read.KernelPaged},
           {"kernelNonpaged", read.KernelNonpaged},
           {"pageSize", read.PageSize},
           {"handleCount", read.HandleCount},
           {"processCount", read.ProcessCount},
           {"threadCount", read.ThreadCount},
       }) {
    result.Set(name, Napi::BigInt::New(env, number));
  }
  return result;
}

}  // namespace evictd
