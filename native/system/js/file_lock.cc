#include "system/file_lock.h"

#include "js/argument.h"
#include "js/environment.h"
#include "js/error.h"

namespace evictd {

namespace {

class FileLockObject : public Napi::ObjectWrap<FileLockObject> {
 public:
  explicit FileLockObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    const std::string path = TextArgument(info[0], "path");
    Guarded(info.Env(), [&] { lock_ = std::make_unique<FileLock>(path); });
  }

  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "FileLock", {InstanceMethod("close", &FileLockObject::Close)});
  }

 private:
  void Close(const Napi::CallbackInfo&) { lock_.reset(); }

  std::unique_ptr<FileLock> lock_;
};

}  // namespace

Napi::Function DefineFileLock(Napi::Env env) { return FileLockObject::Define(env); }

}  // namespace evictd
