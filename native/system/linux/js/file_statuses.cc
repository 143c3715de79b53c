#include "system/linux/file_statuses.h"

#include <memory>
#include <utility>

#include "js/linux/objects.h"
#include "js/value.h"
#include "walk/linux/js/background_object.h"

namespace evictd {

namespace {

struct FileStatusesKind {
  static constexpr const char* kName = "FileStatuses";
  using Result = FileStatuses::Result;
  using Reading = FileStatuses;

  static std::unique_ptr<Reading> Begin(const Napi::CallbackInfo& info, Environment* environment) {
    std::vector<std::string> paths = TextsArgument(info[0], "paths");
    return Guarded(info.Env(),
                   [&] { return std::make_unique<FileStatuses>(std::move(paths), environment->child_programs()); });
  }

  static Napi::Object ToJs(Napi::Env env, const Result& statuses) {
    return ArrayOf(env, statuses, [env](const FileStatus& each) {
      return ObjectOf(env, {{"errno", NumberOf(env, each.error)},
                            {"uid", NumberOf(env, each.uid)},
                            {"gid", NumberOf(env, each.gid)},
                            {"mode", NumberOf(env, each.mode)},
                            {"content", TextOf(env, each.error == 0 ? each.content : "")}});
    });
  }
};

}  // namespace

Napi::Function DefineFileStatuses(Napi::Env env) { return BackgroundObject<FileStatusesKind>::Define(env); }

}  // namespace evictd
