#include <napi.h>
#include <windows.h>
// after windows.h, whose types it uses
#include <psapi.h>

#include <utility>

#include "js/argument.h"
#include "js/error.h"
#include "js/windows/objects.h"
#include "system/system_error.h"

namespace evictd {

Napi::Value PerformanceInfo(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  // Limited to the structure: the system writes as many bytes as it is given.
  const int64_t size = info[0].IsUndefined() ? sizeof(PERFORMANCE_INFORMATION)
                                             : IntegerArgument(info[0], "size", 0, sizeof(PERFORMANCE_INFORMATION));
  PERFORMANCE_INFORMATION read = {};
  if (!GetPerformanceInfo(&read, static_cast<DWORD>(size)))
    throw ToJavaScript(env, SystemError(static_cast<int>(GetLastError()), "GetPerformanceInfo"));
  Napi::Object result = Napi::Object::New(env);
  for (const auto& [name, number] :
       {std::pair("commitTotal", read.CommitTotal), std::pair("commitLimit", read.CommitLimit),
        std::pair("physicalTotal", read.PhysicalTotal), std::pair("physicalAvailable", read.PhysicalAvailable),
        std::pair("pageSize", read.PageSize)}) {
    result.Set(name, Napi::BigInt::New(env, uint64_t{number}));
  }
  return result;
}

}  // namespace evictd
