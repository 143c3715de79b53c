#include "system/linux/file_calls.h"

#include <limits>
#include <optional>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "js/value.h"

namespace evictd {

namespace {

constexpr int64_t kMaximumFd = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaximumInteger = (int64_t{1} << 53) - 1;  // Number.MAX_SAFE_INTEGER

// Runs on a thread of libuv's pool, because the filesystem may hang.
class Allocation : public Napi::AsyncWorker {
 public:
  Allocation(Napi::Env env, int fd, int64_t offset, int64_t length)
      : Napi::AsyncWorker(env, "evictd.fallocate"),
        promise_(Napi::Promise::Deferred::New(env)),
        fd_(fd),
        offset_(offset),
        length_(length) {}

  Napi::Promise promise() const { return promise_.Promise(); }

 protected:
  void Execute() override {
    try {
      Preallocate(fd_, offset_, length_);
    } catch (const SystemError& error) {
      failure_ = error;
    }
  }

  void OnOK() override {
    if (failure_) {
      promise_.Reject(ToJavaScript(Env(), *failure_).Value());
    } else {
      promise_.Resolve(Env().Undefined());
    }
  }

 private:
  const Napi::Promise::Deferred promise_;
  const int fd_;
  const int64_t offset_;
  const int64_t length_;
  std::optional<SystemError> failure_;
};

Napi::Value Fallocate(const Napi::CallbackInfo& info) {
  const int fd = static_cast<int>(IntegerArgument(info[0], "fd", 0, kMaximumFd));
  const int64_t offset = IntegerArgument(info[1], "offset", 0, kMaximumInteger);
  const int64_t length = IntegerArgument(info[2], "length", 1, kMaximumInteger);
  auto* allocation = new Allocation(info.Env(), fd, offset, length);  // deletes itself
  const Napi::Promise promise = allocation->promise();
  allocation->Queue();
  return promise;
}

Napi::Value Getxattr(const Napi::CallbackInfo& info) {
  const std::string path = TextArgument(info[0], "path");
  const std::string name = TextArgument(info[1], "name");
  std::vector<char> value;
  const bool found = Guarded(info.Env(), [&] { return ReadAttribute(path, name, &value); });
  if (!found) return info.Env().Undefined();
  return Napi::Buffer<char>::Copy(info.Env(), value.data(), value.size());
}

Napi::Value Setxattr(const Napi::CallbackInfo& info) {
  const std::string path = TextArgument(info[0], "path");
  const std::string name = TextArgument(info[1], "name");
  const std::string value = TextArgument(info[2], "value");
  Guarded(info.Env(), [&] {
    WriteAttribute(path, name, value);
    return true;
  });
  return info.Env().Undefined();
}

Napi::Value PeerCredentials(const Napi::CallbackInfo& info) {
  const int fd = static_cast<int>(IntegerArgument(info[0], "fd", 0, kMaximumFd));
  const Peer peer = Guarded(info.Env(), [&] { return PeerOf(fd); });
  return ObjectOf(info.Env(), {{"pid", NumberOf(info.Env(), peer.pid)},
                               {"uid", NumberOf(info.Env(), peer.uid)},
                               {"gid", NumberOf(info.Env(), peer.gid)}});
}

}  // namespace

void DefineFileCalls(Napi::Env env, Napi::Object exports) {
  exports.Set("fallocate", Napi::Function::New(env, Fallocate, "fallocate"));
  exports.Set("getxattr", Napi::Function::New(env, Getxattr, "getxattr"));
  exports.Set("setxattr", Napi::Function::New(env, Setxattr, "setxattr"));
  exports.Set("peerCredentials", Napi::Function::New(env, PeerCredentials, "peerCredentials"));
}

}  // namespace evictd
