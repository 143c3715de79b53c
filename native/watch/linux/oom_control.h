#pragma once

#include <limits>
#include <string>
#include <vector>

#include "read/linux/kernel_text.h"
#include "system/linux/timer.h"
#include "system/linux/unique_fd.h"
#include "watch/linux/waiter.h"

namespace evictd {

// cgroup v1 (Documentation/admin-guide/cgroup-v1/memory.rst, 10): an eventfd registered on memory.oom_control. Fires
// when the cgroup, or one above it, is at its limit and nothing can be reclaimed, before the OOM killer chooses.
// Registering does not wait for RCU, unlike a threshold.
//
// The kernel does not notify of kills, so after each event the counter is checked for a second.
class OomControl : public WatchSource {
 public:
  // kUnderOom: tasks wait because the OOM killer is disabled for this cgroup. kOomKill: the kill counter of this cgroup
  // itself changed.
  enum Detail : unsigned { kUnderOom = 1, kOomKill = 2 };
  explicit OomControl(const std::string& cgroup);

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;

 private:
  // The current detail bits. False: the cgroup is gone.
  bool ReadControl(unsigned* detail);

  FileSpec file_;
  UniqueFd event_;
  UniqueFd control_;
  Timer timer_;
  // the last value; NaN: the kernel does not count kills (before 4.13)
  double kills_ = std::numeric_limits<double>::quiet_NaN();
  int checks_left_ = 0;
};

}  // namespace evictd
