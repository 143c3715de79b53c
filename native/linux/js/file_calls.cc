#include "linux/file_calls.h"

#include <limits>

#include "common/js_argument.h"
#include "common/js_error.h"
#include "common/monotonic_clock.h"
#include "linux/js/objects.h"

namespace evictd {

namespace {

constexpr int64_t kMaximumFd = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaximumInteger = (int64_t{1} << 53) - 1;  // Number.MAX_SAFE_INTEGER

void Fallocate(const Napi::CallbackInfo& info) {
  const int fd = static_cast<int>(IntegerArgument(info[0], "fd", 0, kMaximumFd));
  const int64_t offset = IntegerArgument(info[1], "offset", 0, kMaximumInteger);
  const int64_t length = IntegerArgument(info[2], "length", 1, kMaximumInteger);
  Guarded(info.Env(), [&] { Preallocate(fd, offset, length); });
}

Napi::Value Getxattr(const Napi::CallbackInfo& info) {
  const std::string path = TextArgument(info[0], "path");
  const std::string name = TextArgument(info[1], "name");
  std::vector<char> value;
  const bool found = Guarded(info.Env(), [&] { return ReadAttribute(path, name, &value); });
  if (!found) return info.Env().Undefined();
  return Napi::Buffer<char>::Copy(info.Env(), value.data(), value.size());
}

Napi::Value BootTime(const Napi::CallbackInfo& info) { return Napi::BigInt::New(info.Env(), ClockNs(CLOCK_BOOTTIME)); }

}  // namespace

void DefineFileCalls(Napi::Env env, Napi::Object exports) {
  exports.Set("fallocate", Napi::Function::New(env, Fallocate, "fallocate"));
  exports.Set("getxattr", Napi::Function::New(env, Getxattr, "getxattr"));
  exports.Set("bootTimeNs", Napi::Function::New(env, BootTime, "bootTimeNs"));
}

}  // namespace evictd
