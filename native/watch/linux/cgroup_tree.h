#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "system/linux/unique_fd.h"
#include "watch/linux/waiter.h"

struct inotify_event;

namespace evictd {

// cgroups that appear and vanish below a root, told by inotify.
//
// Changes stand in the kernel's queue, which is bounded, until somebody asks; they are read by whoever asks first, the
// waiter (where the watch has somebody to wake) or TakeChanges. Both under one mutex.
class CgroupTree : public WatchSource {
 public:
  enum class Depth { kChildren, kAll };

  // Detail bit: changes were lost, list anew.
  static constexpr unsigned kOverflow = 1;

  struct Change {
    std::string path;  // below the root, without a slash at the front
    bool appeared;     // else it vanished, with all below it
  };
  struct Changes {
    std::vector<Change> list;  // in order; empty where changes were lost
    bool overflow = false;
    bool gone = false;  // the root was removed or renamed, or its tree cannot be followed any more
    int error = 0;      // why it cannot be followed
  };

  // `wakes`: whether the waiter carries it. Throws SystemError: EMFILE (inotify_init1) where the user has no instance
  // left, ENOSPC (inotify_add_watch) where no watch is left.
  CgroupTree(const std::string& root, Depth depth, bool wakes);

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;
  // Closing an inotify instance waits for a grace period of SRCU.
  bool LeftToArmer() const override { return true; }

  // Any thread. What the kernel had queued when it was called is in it.
  Changes TakeChanges();

 private:
  void Collect();
  void Handle(const inotify_event& event);
  void Add(const std::string& path, bool appeared);
  void Overflow();
  // Watches a directory and all below it. `tell`: as appeared.
  void WatchBelow(const std::string& path, bool tell);
  // False where it could not be: it has vanished, or the tree cannot be followed (gone_).
  bool WatchDirectory(const std::string& path);
  // Of a tree whose changes were lost: directories without a watch may be among it.
  void WatchAnew();
  void ForgetBelow(const std::string& path);
  void LookAtRoot();
  std::string DirectoryOf(const std::string& path) const;

  const std::string root_;
  const Depth depth_;
  UniqueFd root_file_;  // reads ENODEV once the root was removed
  UniqueFd inotify_;
  int root_watch_ = -1;
  int parent_watch_ = -1;

  std::mutex mutex_;  // guards what follows
  std::map<std::string, int> watches_;
  std::unordered_map<int, std::string> paths_;
  Changes pending_;
};

}  // namespace evictd
