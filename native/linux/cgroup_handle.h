#ifndef EVICTD_LINUX_CGROUP_HANDLE_H_
#define EVICTD_LINUX_CGROUP_HANDLE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "linux/unique_fd.h"

namespace evictd {

// A cgroup held by its directory: what is done goes to this one, never to another created later under the same name.
class CgroupHandle {
 public:
  struct Signalled {
    size_t found = 0;      // processes in the first reading
    size_t signalled = 0;  // signals delivered
    int error = 0;         // the first failure other than "it is gone"
  };

  // Throws SystemError; ESTALE where the directory's inode is not `id`.
  explicit CgroupHandle(const std::string& cgroup, std::optional<uint64_t> id = std::nullopt);

  uint64_t id() const { return id_; }

  // One pass over the processes of the cgroup and of all below it. Pids are recycled, so each is opened first, the
  // membership is read again, and only who is listed in both readings is signalled. Processes without a number in this
  // pid namespace (listed as 0), pid 1 and this process are never signalled: EPERM.
  Signalled Signal(int signal) const;

  // Writes cgroup.kill. Throws SystemError: ENOENT where the hierarchy has none.
  void Kill() const;

  // Sorted, each once. `error`: the first failure, 0 where there was none; a cgroup that is gone has no processes.
  std::vector<pid_t> Processes(int* error) const;

 private:
  std::string path_;
  UniqueFd directory_;
  uint64_t id_ = 0;
};

}  // namespace evictd

#endif  // EVICTD_LINUX_CGROUP_HANDLE_H_
