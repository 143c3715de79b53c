#include "linux/directory_emptying.h"

#include <memory>

#include "linux/js/background_object.h"
#include "linux/js/objects.h"

namespace evictd {

namespace {

const char* NameOf(DirectoryEmptying::End end) {
  switch (end) {
    case DirectoryEmptying::End::kDone:
      return "done";
    case DirectoryEmptying::End::kRefused:
      return "refused";
    case DirectoryEmptying::End::kReplaced:
      return "replaced";
    case DirectoryEmptying::End::kPopulated:
      return "populated";
    case DirectoryEmptying::End::kMoved:
      return "moved";
    case DirectoryEmptying::End::kLate:
      return "late";
    case DirectoryEmptying::End::kCancelled:
      return "cancelled";
  }
  return "";
}

struct DirectoryEmptyingKind {
  static constexpr const char* kName = "DirectoryEmptying";
  using Result = DirectoryEmptying::Result;
  using Reading = BackgroundReading<Result>;

  static std::unique_ptr<Reading> Begin(const Napi::CallbackInfo& info, Environment* environment) {
    const Napi::Object options = ObjectArgument(info[0], "order");
    DirectoryEmptying::Order order;
    order.path = TextArgument(options.Get("path"), "order.path");
    order.identity.device = BigIntArgument(options.Get("device"), "order.device");
    order.identity.inode = BigIntArgument(options.Get("inode"), "order.inode");
    order.cgroups = TextsArgument(options.Get("cgroups"), "order.cgroups");
    constexpr int64_t kDayMs = 86'400'000;
    const int64_t within_ms = IntegerArgument(options.Get("withinMs"), "order.withinMs", 0, kDayMs);
    order.within_ns = static_cast<uint64_t>(within_ms) * 1'000'000;
    return InBackground<Result>(
        info, order.path, [order](const auto& cancelled) { return DirectoryEmptying(order).Run(cancelled); },
        environment->emptyings());
  }

  static Napi::Object ToJs(Napi::Env env, const Result& emptied) {
    const auto failure_of = [env](const DirectoryEmptying::Failure& each) {
      Napi::Object failure = Napi::Object::New(env);
      failure.Set("name", Napi::String::New(env, each.name));
      failure.Set("errno", Napi::Number::New(env, each.error));
      return failure;
    };
    Napi::Object result = Napi::Object::New(env);
    result.Set("end", Napi::String::New(env, NameOf(emptied.end)));
    result.Set("errno", Napi::Number::New(env, emptied.error));
    result.Set("bytes", NumberOf(env, emptied.bytes));
    result.Set("inodes", NumberOf(env, emptied.inodes));
    result.Set("failed", NumberOf(env, emptied.failed));
    result.Set("failures", ArrayOf(env, emptied.failures, failure_of));
    return result;
  }
};

}  // namespace

Napi::Function DefineDirectoryEmptying(Napi::Env env) { return BackgroundObject<DirectoryEmptyingKind>::Define(env); }

}  // namespace evictd
