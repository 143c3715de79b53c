#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kill/linux/cgroup_freezer.h"
#include "kill/linux/memory_reaper.h"
#include "system/linux/unique_fd.h"

namespace evictd {

// A cgroup held by its directory: what is done goes to this one, never to another created later under the same name.
class CgroupHandle {
 public:
  struct Signalled {
    size_t found = 0;      // processes in the first reading
    size_t signalled = 0;  // signals delivered
    uint64_t at_ns = 0;    // when the last of them had been, on the monotonic clock
    int error = 0;         // the first failure other than "it is gone"; a shortage (IsShortage) before all others
  };

  // Throws SystemError; ESTALE where the directory's inode is not `id`.
  explicit CgroupHandle(const std::string& cgroup, std::optional<uint64_t> id = std::nullopt);

  uint64_t id() const { return id_; }

  // One pass over the processes of the cgroup and of all below it. Pids are recycled, so each is opened first, the
  // membership is read again, and only who is listed in both readings is signalled. Processes without a number in this
  // pid namespace (listed as 0), pid 1 and this process are never signalled: EPERM. `reaper`: gets the pidfds of those
  // that were signalled, as far as it takes them.
  Signalled Signal(int signal, MemoryReaper* reaper = nullptr) const;

  struct Stopped {
    size_t rounds = 0;     // readings
    bool settled = false;  // the last reading listed nobody who was not in one before
    int error = 0;         // as in Signalled
  };

  // SIGSTOP to everybody, then to whoever a new reading lists besides, until one lists nobody new or `rounds` readings
  // were made. A stopped process forks no more, and unlike a killed one it makes no room for others below a pids limit.
  // A fork that had begun goes through, though (SIGSTOP ends none), and the child may be listed only after `settled`.
  Stopped Stop(size_t rounds) const;

  CgroupFreezer& freezer() { return *freezer_; }

  // Writes cgroup.kill. Throws SystemError: ENOENT where the hierarchy has none.
  void Kill() const;

  // Sorted, each once. `error`: the first failure, 0 where there was none; a cgroup that is gone has no processes.
  std::vector<pid_t> Processes(int* error) const;

 private:
  void SignalMembers(const std::vector<pid_t>& pids, int signal, MemoryReaper* reaper, Signalled* result) const;

  std::string path_;
  UniqueFd directory_;
  uint64_t id_ = 0;
  std::optional<CgroupFreezer> freezer_;
};

}  // namespace evictd
