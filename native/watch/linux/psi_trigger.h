#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "system/linux/unique_fd.h"
#include "watch/linux/waiter.h"

namespace evictd {

// A PSI trigger (Documentation/accounting/psi.rst) on /proc/pressure/* or a cgroup's *.pressure; lives as long as its
// descriptor.
class PsiTrigger : public WatchSource {
 public:
  enum class Kind { kSome, kFull };

  // Throws SystemError: EINVAL for a window that is not allowed (without CAP_SYS_RESOURCE it must be a multiple of 2
  // s), EOPNOTSUPP if PSI is off.
  PsiTrigger(const std::string& file, Kind kind, uint64_t stall_us, uint64_t window_us);

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;
  // Closing a trigger waits for an RCU grace period (kernel/sched/psi.c, psi_trigger_destroy).
  bool LeftToArmer() const override { return true; }

 private:
  UniqueFd trigger_;
};

}  // namespace evictd
