#include "walk/linux/directory_usage.h"

#include <memory>

#include "js/linux/objects.h"
#include "walk/linux/js/background_object.h"

namespace evictd {

namespace {

struct DirectoryUsageKind {
  static constexpr const char* kName = "DirectoryUsage";
  using Reading = DirectoryUsage;
  using Result = DirectoryWalk::Usage;

  static std::unique_ptr<Reading> Begin(const Napi::CallbackInfo& info, Environment* environment) {
    const std::string path = TextArgument(info[0], "path");
    std::unique_ptr<Reading> reading;
    Guarded(info.Env(), [&] { reading = std::make_unique<DirectoryUsage>(path, environment->directory_walks()); });
    return reading;
  }

  static Napi::Object ToJs(Napi::Env env, const Result& usage) {
    Napi::Object result = Napi::Object::New(env);
    result.Set("bytes", NumberOf(env, usage.bytes));
    result.Set("inodes", NumberOf(env, usage.inodes));
    result.Set("errors", NumberOf(env, usage.errors));
    result.Set("errno", Napi::Number::New(env, usage.first_error));
    result.Set("device", Napi::BigInt::New(env, usage.device));
    result.Set("inode", Napi::BigInt::New(env, usage.inode));
    result.Set("complete", Napi::Boolean::New(env, usage.complete));
    return result;
  }
};

}  // namespace

Napi::Function DefineDirectoryUsage(Napi::Env env) { return BackgroundObject<DirectoryUsageKind>::Define(env); }

}  // namespace evictd
