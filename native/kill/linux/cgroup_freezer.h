#pragma once

#include <string>
#include <utility>

#include "system/linux/unique_fd.h"

namespace evictd {

// Freezes one cgroup by freezer.state of v1, or cgroup.freeze of v2. The control file stays open from Freeze to Thaw:
// thawing must not fail because all descriptors were taken in between.
class CgroupFreezer {
 public:
  // `directory`: the cgroup's, open for as long as this lives.
  CgroupFreezer(int directory, std::string path) : directory_(directory), path_(std::move(path)) {}

  // True once all are frozen; false where some were not within `limit_ms` (one that is dying on v1, or waits for a
  // device). Throws SystemError, and then nothing was frozen: ENOENT where it has neither file.
  bool Freeze(unsigned limit_ms);

  // Also what somebody else has frozen, and all cgroups below it: one that was frozen itself stays frozen when the one
  // above is thawed. A cgroup that is gone is no failure. Throws SystemError, and may be called again.
  void Thaw();

 private:
  struct Control {
    UniqueFd file;
    const char* name = nullptr;  // of the file
    bool v1 = false;
  };
  // 0, or an errno.
  static int Open(int directory, Control* control);
  static int Thaw(const Control& control);
  static int ThawBelow(int directory);
  bool IsFrozen(int events) const;

  const int directory_;
  const std::string path_;
  Control control_;
};

}  // namespace evictd
