#include "watch/linux/cgroup_tree.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "read/linux/reader.h"
#include "system/system_error.h"

namespace evictd {

namespace {

constexpr uint32_t kInterest =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

// The default of fs.inotify.max_queued_events.
constexpr size_t kMostChanges = 16384;

}  // namespace

CgroupTree::CgroupTree(const std::string& root, bool wakes) : root_(root) {
  const UniqueFd directory(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) throw SystemError(errno, "open", root);
  // A file that every cgroup of the version has, the hierarchy's root included.
  for (const char* name : {"cgroup.clone_children", "cgroup.controllers"}) {
    if (!root_file_) root_file_.Reset(OpenForReading(directory.get(), name));
  }
  if (!root_file_) throw SystemError(errno, "open", root + "/cgroup.controllers");
  inotify_.Reset(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify_) throw SystemError(errno, "inotify_init1");
  if (wakes) {
    // Up to at least 6.18, removing a cgroup does not notify its own watch (kernfs never drops the inode's link count),
    // so the parent is watched too.
    parent_watch_ = inotify_add_watch(inotify_.get(), (root + "/..").c_str(), IN_DELETE | IN_ONLYDIR | IN_MASK_ADD);
    if (parent_watch_ < 0) throw SystemError(errno, "inotify_add_watch", root + "/..");
  }
  root_watch_ = inotify_add_watch(inotify_.get(), root.c_str(), kInterest);
  if (root_watch_ < 0) throw SystemError(errno, "inotify_add_watch", root);
  paths_.emplace(root_watch_, "");
}

std::vector<WatchSource::Descriptor> CgroupTree::Descriptors() const { return {{inotify_.get(), EPOLLIN}}; }

Wake CgroupTree::OnEvent(size_t, uint32_t) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Collect();
  if (pending_.gone) return Gone(pending_.error);
  if (pending_.list.empty() && !pending_.overflow) return Wake::kNothing;
  if (pending_.overflow) Detail(kOverflow);
  return Wake::kFired;
}

CgroupTree::Changes CgroupTree::TakeChanges() {
  const std::lock_guard<std::mutex> lock(mutex_);
  Collect();
  CheckRoot();
  Changes taken = std::exchange(pending_, Changes{});
  // It stays gone, for the waiter and for later calls.
  pending_.gone = taken.gone;
  pending_.error = taken.error;
  if (taken.gone) Gone(taken.error);
  return taken;
}

void CgroupTree::Collect() {
  // Only what is queued now: cgroups that are created as fast as they are read must not keep this thread.
  int queued = 0;
  if (ioctl(inotify_.get(), FIONREAD, &queued) != 0) return;
  alignas(inotify_event) std::array<char, 16 * 1024> buffer;
  while (queued > 0 && !pending_.gone) {
    // No EINTR: it never waits.
    const ssize_t length = read(inotify_.get(), buffer.data(), buffer.size());
    if (length <= 0) return;
    queued -= static_cast<int>(length);
    for (ssize_t at = 0; at < length && !pending_.gone;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      Handle(*event);
      at += static_cast<ssize_t>(sizeof *event + event->len);
    }
  }
}

void CgroupTree::Handle(const inotify_event& event) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    Overflow();
    CheckNames();
    return;
  }
  if (event.wd == parent_watch_) {
    CheckRoot();
    return;
  }
  const auto found = paths_.find(event.wd);
  if (found == paths_.end()) return;  // of a removed watch
  if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)) != 0) {
    if (event.wd == root_watch_) pending_.gone = true;  // parents report the others
    return;
  }
  if ((event.mask & IN_ISDIR) == 0 || event.len == 0) return;
  const std::string path = found->second.empty() ? event.name : found->second + "/" + event.name;
  Add(path, (event.mask & (IN_CREATE | IN_MOVED_TO)) != 0);
  // A watch belongs to the directory, not its name: a renamed directory is to be followed under its new name.
  ForgetBelow(path);
}

void CgroupTree::Add(const std::string& path, bool appeared) {
  if (pending_.overflow) return;  // the caller lists anew anyway
  if (pending_.list.size() == kMostChanges) {
    Overflow();
  } else {
    pending_.list.push_back({path, appeared});
  }
}

void CgroupTree::Overflow() {
  pending_.overflow = true;
  pending_.list = {};
}

int CgroupTree::Follow(const std::string& path) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const int watch = inotify_add_watch(inotify_.get(), DirectoryOf(path).c_str(), kInterest);
  if (watch < 0) return errno;
  const auto known = paths_.find(watch);
  if (known != paths_.end()) {
    // Renamed: another directory may have the old name.
    const auto named = watches_.find(known->second);
    if (named != watches_.end() && named->second == watch) watches_.erase(named);
  }
  paths_[watch] = path;
  watches_[path] = watch;
  return 0;
}

void CgroupTree::Unfollow(const std::string& path) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ForgetBelow(path);
}

void CgroupTree::CheckNames() {
  // Existing directories keep their watches: each removed watch queues an event, which could overflow the queue again
  // and again.
  std::map<std::string, int> named;
  std::unordered_map<int, std::string> paths = {{root_watch_, ""}};
  for (const auto& [path, before] : watches_) {
    const int watch = inotify_add_watch(inotify_.get(), DirectoryOf(path).c_str(), kInterest);
    if (watch < 0 || !paths.emplace(watch, path).second) continue;
    named.emplace(path, watch);
  }
  for (const auto& [watch, path] : paths_) {
    if (paths.count(watch) == 0) inotify_rm_watch(inotify_.get(), watch);
  }
  watches_ = std::move(named);
  paths_ = std::move(paths);
}

void CgroupTree::ForgetBelow(const std::string& path) {
  // '0' follows '/': all names that begin with the path and a slash, then the path itself.
  const auto first = watches_.lower_bound(path + "/");
  const auto last = watches_.lower_bound(path + "0");
  for (auto watch = first; watch != last; watch = watches_.erase(watch)) {
    inotify_rm_watch(inotify_.get(), watch->second);
    paths_.erase(watch->second);
  }
  const auto itself = watches_.find(path);
  if (itself == watches_.end()) return;
  inotify_rm_watch(inotify_.get(), itself->second);
  paths_.erase(itself->second);
  watches_.erase(itself);
}

void CgroupTree::CheckRoot() {
  char first = 0;
  if (pread(root_file_.get(), &first, 1, 0) < 0 && errno == ENODEV) pending_.gone = true;
}

std::string CgroupTree::DirectoryOf(const std::string& path) const { return path.empty() ? root_ : root_ + "/" + path; }

}  // namespace evictd
