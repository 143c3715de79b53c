#pragma once

#include <string>
#include <utility>

#include "system/linux/unique_fd.h"
#include "walk/linux/cgroup_walk.h"

namespace evictd {

// Freezes one cgroup by freezer.state (v1) or cgroup.freeze (v2). The control file stays open from Freeze to Thaw:
// thawing must not fail for want of descriptors.
class CgroupFreezer {
 public:
  // `directory`: the open directory of the cgroup; outlives this object.
  CgroupFreezer(int directory, std::string path) : directory_(directory), path_(std::move(path)), walk_(directory) {}

  // Returns true once all tasks are frozen, false if some were not within `limit_ms` (a dying task on v1, a task that
  // waits for a device). Throws SystemError if nothing was frozen, ENOENT if the cgroup has neither file.
  bool Freeze(unsigned limit_ms);

  // Thaws the cgroup and all cgroups below it, also if another program froze them: a child that was frozen itself stays
  // frozen when its parent is thawed. A removed cgroup is not a failure. Throws SystemError, EAGAIN if there are more
  // than CgroupWalk::kMostCgroups: another call goes on there.
  void Thaw();

 private:
  struct Control {
    UniqueFd file;
    const char* name = nullptr;
    bool v1 = false;
  };
  static int Open(int directory, Control* control);
  static int Thaw(const Control& control);
  int ThawBelow();
  bool IsFrozen(int events) const;

  const int directory_;
  const std::string path_;
  Control control_;
  CgroupWalk walk_;
};

}  // namespace evictd
