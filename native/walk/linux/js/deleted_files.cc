#include "walk/linux/deleted_files.h"

#include <memory>

#include "js/linux/objects.h"
#include "js/value.h"
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
    const auto group_of = [env](const DeletedFiles::Group& each) {
      return ObjectOf(env, {{"pids", ArrayOfNumbers(env, each.holders)},
                            {"bytes", NumberOf(env, each.bytes)},
                            {"inodes", NumberOf(env, each.inodes)}});
    };
    return ObjectOf(env, {{"groups", ArrayOf(env, files.groups, group_of)},
                          {"unreadable", NumberOf(env, files.unreadable)},
                          {"device", Napi::BigInt::New(env, files.device)},
                          {"complete", Napi::Boolean::New(env, files.complete)}});
  }
};

}  // namespace

Napi::Function DefineDeletedFiles(Napi::Env env) { return BackgroundObject<DeletedFilesKind>::Define(env); }

}  // namespace evictd
