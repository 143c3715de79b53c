#include <memory>

#include "js/linux/objects.h"
#include "js/value.h"
#include "walk/linux/directory_walk.h"
#include "walk/linux/js/background_object.h"

namespace evictd {

namespace {

struct DirectoryUsageKind {
  static constexpr const char* kName = "DirectoryUsage";
  using Result = DirectoryWalk::Usage;
  using Reading = BackgroundReading<Result>;

  static std::unique_ptr<Reading> Begin(const Napi::CallbackInfo& info, Environment* environment) {
    const std::string path = TextArgument(info[0], "path");
    return InBackground<Result>(
        info, path, [path](const auto& cancelled) { return DirectoryWalk().Run(path, cancelled); },
        environment->directory_walks());
  }

  static Napi::Object ToJs(Napi::Env env, const Result& usage) {
    return ObjectOf(env, {{"bytes", NumberOf(env, usage.bytes)},
                          {"inodes", NumberOf(env, usage.inodes)},
                          {"errors", NumberOf(env, usage.errors)},
                          {"errno", NumberOf(env, usage.first_error)},
                          {"device", Napi::BigInt::New(env, usage.device)},
                          {"inode", Napi::BigInt::New(env, usage.inode)},
                          {"complete", Napi::Boolean::New(env, usage.complete)}});
  }
};

}  // namespace

Napi::Function DefineDirectoryUsage(Napi::Env env) { return BackgroundObject<DirectoryUsageKind>::Define(env); }

}  // namespace evictd
