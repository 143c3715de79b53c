#pragma once

#include <limits>
#include <string>
#include <vector>

#include "read/linux/kernel_text.h"
#include "system/linux/unique_fd.h"
#include "watch/linux/waiter.h"

namespace evictd {

// cgroup v1 (Documentation/admin-guide/cgroup-v1/memory.rst, 10): an eventfd registered on memory.oom_control. Fires
// when the cgroup, or one above it, runs into its limit and nothing can be reclaimed: before the kernel's OOM killer
// chooses. Registering does not wait for RCU, unlike that of a threshold.
//
// The kernel notifies of no kill. So after each event the counter is looked at for a second.
class OomControl : public WatchSource {
 public:
  // The detail bits. kUnderOom: tasks wait because the OOM killer is switched off for this cgroup. kOomKill: the
  // counter of kills in this very cgroup (none below it) moved.
  enum Detail : unsigned { kUnderOom = 1, kOomKill = 2 };

  // Throws SystemError.
  explicit OomControl(const std::string& cgroup);

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;

 private:
  // The detail bits as they are now. False where the cgroup is gone.
  bool Look(unsigned* detail);
  void LookAgain(bool again);

  FileSpec file_;
  UniqueFd event_;
  UniqueFd control_;
  UniqueFd timer_;
  // As it was read last; NaN: never, the kernel does not count them (before 4.13).
  double kills_ = std::numeric_limits<double>::quiet_NaN();
  int looks_ = 0;
};

}  // namespace evictd
