#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kill/linux/cgroup_freezer.h"
#include "kill/linux/memory_reaper.h"
#include "system/linux/unique_fd.h"
#include "walk/linux/cgroup_walk.h"

namespace evictd {

// A cgroup held by its directory, so never another cgroup of the same name. For one thread: a walk goes on from call to
// call.
class CgroupHandle {
 public:
  struct Signalled {
    size_t found = 0;         // processes in the first reading
    size_t signalled = 0;     // signals delivered
    uint64_t at_ns = 0;       // time of the last signal, monotonic clock
    int error = 0;            // the first failure other than "it is gone"; a shortage (IsShortage) before all others
    bool complete = false;    // all cgroups were visited, by this call or by earlier ones
    size_t empty_rounds = 0;  // rounds in a row over all cgroups that listed no process
  };

  // Throws SystemError; ESTALE if the directory's inode is not `id`.
  explicit CgroupHandle(const std::string& cgroup, std::optional<uint64_t> id = std::nullopt);

  uint64_t id() const { return id_; }

  // Signals the processes of the cgroup and of all cgroups below it, in one pass of a walk that each signal number has
  // for itself: where there are more than kMostCgroups, another call goes on there. Pids are reused, so it opens each
  // pidfd, reads the membership again, and signals only processes listed in both readings. Never signalled, EPERM:
  // processes without a number in this pid namespace (listed as 0), pid 1, this process. `reaper` receives the pidfds
  // of signalled processes while it has room.
  Signalled Signal(int signal, MemoryReaper* reaper = nullptr);

  struct Stopped {
    size_t rounds = 0;
    bool settled = false;  // the last reading listed no new process
    int error = 0;         // as in Signalled
  };

  // Sends SIGSTOP to all processes, then to those that a new reading adds, until one adds none or after `rounds`
  // readings. A stopped process forks no more and, unlike a killed one, frees no place below a pids limit. SIGSTOP does
  // not end a fork that has begun; its child may be listed after `settled`.
  Stopped Stop(size_t rounds) const;

  CgroupFreezer& freezer() { return *freezer_; }

  // Writes cgroup.kill. Throws SystemError: ENOENT if the hierarchy has none.
  void Kill() const;

  // Whether a cgroup has changed: a new one in it, or other extended attributes.
  struct Contents {
    uint64_t newest = 0;              // the largest inode number: that of a cgroup which is made later is larger
    std::vector<std::string> marked;  // sorted, a text for each attribute that is set
    int error = 0;  // the first failure. What vanished is none, and neither are more cgroups than `most`
  };
  Contents Read(const std::vector<std::string>& attributes, size_t most = CgroupWalk::kMostCgroups) const;

  // Sorted, each pid once. `error`: 0 or the first failure; EFBIG: `most` cgroups or more, and the pids of the first
  // ones. A removed cgroup has no processes.
  std::vector<pid_t> Processes(int* error, size_t most = CgroupWalk::kMostCgroups) const;

 private:
  using Reading = std::function<std::vector<pid_t>(int* error)>;

  void SignalPass(int signal, MemoryReaper* reaper, Signalled* result);
  // `again` reads the membership once more; `moved` receives those that it does not list although they exist.
  static void SignalMembers(const std::vector<pid_t>& pids, int signal, MemoryReaper* reaper, const Reading& again,
                            std::vector<pid_t>* moved, Signalled* result);

  std::string path_;
  UniqueFd directory_;
  uint64_t id_ = 0;
  std::optional<CgroupFreezer> freezer_;
  std::map<int, CgroupWalk> walks_;  // by signal number
};

}  // namespace evictd
