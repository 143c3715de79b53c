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

// Cgroups that appear and vanish directly below a root, and below those of its descendants that are followed, by
// inotify: a watch each, and none on any other. Changes stay in the kernel's bounded queue until the waiter (if the
// watch has a callback) or TakeChanges reads them, both under one mutex.
class CgroupTree : public WatchSource {
 public:
  // Detail bit: changes were lost, list anew.
  static constexpr unsigned kOverflow = 1;

  struct Change {
    std::string path;  // below the root, without a leading slash
    bool appeared;     // else it vanished, with all below it; either way it is not followed any more
  };
  struct Changes {
    std::vector<Change> list;  // in order; empty if changes were lost
    bool overflow = false;
    bool gone = false;  // the root was removed or renamed, or cannot be followed
    int error = 0;      // why it cannot be followed
  };

  // `wakes`: the waiter will carry it. Throws SystemError: EMFILE (inotify_init1) if the user has no instance left,
  // ENOSPC (inotify_add_watch) if no watch is left.
  CgroupTree(const std::string& root, bool wakes);

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;
  // Closing an inotify instance waits for an SRCU grace period.
  bool LeftToArmer() const override { return true; }

  // Any thread. Includes everything that the kernel had queued at the call.
  Changes TakeChanges();

  // Any thread. Reports the children of a descendant from now on: list them afterwards. `path`: as in Change. Returns 0
  // or errno (ENOSPC: no watch is left).
  int Follow(const std::string& path);
  // Ends that, also for all below it.
  void Unfollow(const std::string& path);

 private:
  void Collect();
  void Handle(const inotify_event& event);
  void Add(const std::string& path, bool appeared);
  void Overflow();
  // Called after lost changes: drops the watches of directories that lost their names.
  void CheckNames();
  void ForgetBelow(const std::string& path);
  void CheckRoot();
  std::string DirectoryOf(const std::string& path) const;

  const std::string root_;
  UniqueFd root_file_;  // reads ENODEV after the root was removed
  UniqueFd inotify_;
  int root_watch_ = -1;
  int parent_watch_ = -1;

  std::mutex mutex_;                    // guards the rest
  std::map<std::string, int> watches_;  // of the followed ones
  std::unordered_map<int, std::string> paths_;
  Changes pending_;
};

}  // namespace evictd
