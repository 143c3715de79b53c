#include "walk/linux/filesystem_tree.h"

#include <memory>

#include "js/linux/objects.h"
#include "js/value.h"
#include "walk/linux/js/background_object.h"

namespace evictd {

namespace {

constexpr uint64_t kMostParts = 1'000'000;
constexpr uint64_t kMostDepth = 16;
constexpr int64_t kMostMilliseconds = 600'000;
constexpr int64_t kMostEntries = 1'000'000'000;

struct FilesystemTreeKind {
  static constexpr const char* kName = "FilesystemTree";
  using Result = FilesystemTree::Result;
  using Reading = BackgroundReading<Result>;

  static std::unique_ptr<Reading> Begin(const Napi::CallbackInfo& info, Environment* environment) {
    const std::string path = TextArgument(info[0], "path");
    const Napi::Object given = ObjectArgument(info[2], "limits");
    FilesystemTree::Limits limits;
    limits.depth = static_cast<size_t>(IntegerArgument(given.Get("depth"), "depth", 0, kMostDepth));
    limits.parts = static_cast<uint64_t>(IntegerArgument(given.Get("parts"), "parts", 1, kMostParts));
    limits.time = std::chrono::milliseconds(IntegerArgument(given.Get("withinMs"), "withinMs", 0, kMostMilliseconds));
    limits.entries = static_cast<uint64_t>(IntegerArgument(given.Get("entries"), "entries", 0, kMostEntries));
    return InBackground<Result>(
        info, path, [path, limits](const auto& cancelled) { return FilesystemTree(path, limits).Run(cancelled); },
        environment->background_walks());
  }

  static Napi::Object ToJs(Napi::Env env, const Result& tree) {
    const auto directory_of = [env](const FilesystemTree::Directory& each) {
      return ObjectOf(env, {{"path", TextOf(env, each.path)},
                            {"bytes", NumberOf(env, each.bytes)},
                            {"inodes", NumberOf(env, each.inodes)}});
    };
    return ObjectOf(env, {{"directories", ArrayOf(env, tree.directories, directory_of)},
                          {"errors", NumberOf(env, tree.errors)},
                          {"errno", NumberOf(env, tree.first_error)},
                          {"device", Napi::BigInt::New(env, tree.device)},
                          {"complete", Napi::Boolean::New(env, tree.complete)}});
  }
};

}  // namespace

Napi::Function DefineFilesystemTree(Napi::Env env) { return BackgroundObject<FilesystemTreeKind>::Define(env); }

}  // namespace evictd
