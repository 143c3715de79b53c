#include "walk/linux/deleted_files.h"

#include <memory>

#include "js/linux/objects.h"
#include "walk/linux/js/background_object.h"

namespace evictd {

namespace {

struct DeletedFilesKind {
  static constexpr const char* kName = "DeletedFiles";
  using Result = DeletedFiles::Result;
  using Reading = BackgroundReading<Result>;

  static std::unique_ptr<Reading> Begin(const Napi::CallbackInfo& info, Environment* environment) {
    const std::string path = TextArgument(info[0], "path");
    return InBackground<Result>(
        info, path, [path](const auto& cancelled) { return DeletedFiles(path).Run(cancelled); },
        environment->background_walks());
  }

  static Napi::Object ToJs(Napi::Env env, const Result& files) {
    const auto pid_of = [env](pid_t pid) { return Napi::Number::New(env, pid); };
    const auto group_of = [&](const DeletedFiles::Group& each) {
      Napi::Object group = Napi::Object::New(env);
      group.Set("pids", ArrayOf(env, each.holders, pid_of));
      group.Set("bytes", NumberOf(env, each.bytes));
      group.Set("inodes", NumberOf(env, each.inodes));
      return group;
    };
    Napi::Object result = Napi::Object::New(env);
    result.Set("groups", ArrayOf(env, files.groups, group_of));
    result.Set("unreadable", NumberOf(env, files.unreadable));
    result.Set("device", Napi::BigInt::New(env, files.device));
    result.Set("complete", Napi::Boolean::New(env, files.complete));
    return result;
  }
};

}  // namespace

Napi::Function DefineDeletedFiles(Napi::Env env) { return BackgroundObject<DeletedFilesKind>::Define(env); }

}  // namespace evictd
