#include "watch/linux/cgroup_tree.h"

#include <cerrno>
#include <memory>
#include <utility>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "js/value.h"
#include "walk/linux/cgroup_walk.h"
#include "watch/linux/js/watch.h"

namespace evictd {

namespace {

class CgroupTreeObject : public WatchObject<CgroupTreeObject> {
 public:
  static constexpr const char* kName = "CgroupTree";
  static constexpr const char* kMechanism = "tree";

  explicit CgroupTreeObject(const Napi::CallbackInfo& info) : WatchObject(info) {
    root_ = TextArgument(info[0], "root");
    const bool wakes = !info[1].IsUndefined();
    const Napi::Function on_wake = wakes ? FunctionArgument(info[1], "onWake") : Napi::Function();
    Guarded(info.Env(), [&] {
      auto tree = std::make_shared<CgroupTree>(root_, wakes);
      if (wakes) {
        Start(info, std::move(tree), on_wake, root_);
      } else {
        unwatched_ = std::move(tree);
      }
    });
  }

  // NOLINTNEXTLINE(bugprone-exception-escape): Node-API throws if a reference cannot be released
  ~CgroupTreeObject() override { Drop(); }

  Napi::Value Changes(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    CgroupTree::Changes changes;
    if (CgroupTree* const tree = Tree()) {
      changes = tree->TakeChanges();
      if (changes.gone && unwatched_) {
        error_ = changes.error;
        Drop();
      } else if (changes.gone) {
        // This call may have read the event that the waiter waits for.
        Environment::Of(env)->waiter().Post(watch_id(), Wake::kGone, 0);
      }
    } else {
      changes.gone = true;
    }
    // Usually nothing has changed.
    if (changes.list.empty() && !changes.overflow && !changes.gone) return env.Undefined();
    Napi::Array list = Napi::Array::New(env, changes.list.size());
    // Created once: there may be thousands of changes.
    const Napi::String path = Napi::String::New(env, "path");
    const Napi::String kind = Napi::String::New(env, "kind");
    const Napi::String appeared = Napi::String::New(env, "appeared");
    const Napi::String vanished = Napi::String::New(env, "vanished");
    uint32_t next = 0;
    for (const CgroupTree::Change& change : changes.list) {
      const Napi::HandleScope scope(env);
      Napi::Object reported = Napi::Object::New(env);
      reported.Set(path, TextOf(env, change.path));
      reported.Set(kind, change.appeared ? appeared : vanished);
      list.Set(next++, reported);
    }
    return ObjectOf(env, {{"list", list},
                          {"overflow", Napi::Boolean::New(env, changes.overflow)},
                          {"gone", Napi::Boolean::New(env, changes.gone)}});
  }

  Napi::Value Follow(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const std::string path = TextArgument(info[0], "path");
    CgroupTree* const tree = Tree();
    const int error = tree == nullptr ? ENODEV : tree->Follow(path);
    if (error == 0) return Napi::Boolean::New(env, true);
    if (HasVanished(error) || error == ENOTDIR) return Napi::Boolean::New(env, false);
    throw ToJavaScript(env, SystemError(error, "inotify_add_watch", root_ + "/" + path));
  }

  void Unfollow(const Napi::CallbackInfo& info) {
    const std::string path = TextArgument(info[0], "path");
    if (CgroupTree* const tree = Tree()) tree->Unfollow(path);
  }

  // The waiter does not have a tree without a callback, so this replaces the function of the base class.
  Napi::Value Live(const Napi::CallbackInfo& info) {
    return Napi::Boolean::New(info.Env(), live() || unwatched_ != nullptr);
  }
  void Close(const Napi::CallbackInfo&) {
    Drop();
    Stop();
  }
  Napi::Value Status(const Napi::CallbackInfo& info) {
    Napi::Object status = StatusOf(info.Env(), kMechanism);
    status.Set("target", TextOf(info.Env(), root_));
    status.Set("live", Live(info));
    if (error_ != 0) status.Set("errno", NumberOf(info.Env(), error_));
    return status;
  }

  static Napi::Function Define(Napi::Env env) {
    return WatchObject::Define(env, {InstanceMethod("changes", &CgroupTreeObject::Changes),
                                     InstanceMethod("follow", &CgroupTreeObject::Follow),
                                     InstanceMethod("unfollow", &CgroupTreeObject::Unfollow)});
  }

 private:
  CgroupTree* Tree() { return unwatched_ ? unwatched_.get() : source_as<CgroupTree>(); }

  // Also at the environment's end: its data is finalized last.
  void Drop() {
    if (unwatched_) Environment::Of(Env())->Release(std::move(unwatched_));
  }

  std::string root_;
  std::shared_ptr<CgroupTree> unwatched_;  // the owner if there is no callback
  int error_ = 0;
};

}  // namespace

Napi::Function DefineCgroupTree(Napi::Env env) { return CgroupTreeObject::Define(env); }

}  // namespace evictd
