#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "read/linux/kernel_text.h"
#include "system/linux/timer.h"
#include "system/linux/unique_fd.h"
#include "watch/linux/waiter.h"

namespace evictd {

// cgroup v2: notifies of changes of memory.events, memory.events.local or cgroup.events, with the counters that
// changed, and of the cgroup's removal.
//
// Removing a cgroup does not wake polls of its files. But only an empty cgroup can be removed, and cgroup.events
// reports when it becomes empty: until it is populated again, the watch checks four times a second whether it still
// exists. It also checks once after each notification: the kernel delays another one within 10 ms, and drops it if the
// cgroup is removed meanwhile (kernel/cgroup/cgroup.c, cgroup_file_notify and cgroup_rm_file).
class MemcgEvents : public WatchSource {
 public:
  // A counter's detail bit is 1 << its index. The first six are in memory.events, the others in cgroup.events.
  static constexpr std::array<const char*, 8> kCounters = {"low",      "high",           "max",       "oom",
                                                           "oom_kill", "oom_group_kill", "populated", "frozen"};
  MemcgEvents(const std::string& cgroup, const std::string& file);

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;

  // Any thread: the last read value. NaN: not in this file, or unknown to this kernel.
  double Counter(size_t counter) const { return values_[counter].load(std::memory_order_relaxed); }

 private:
  // Reads the file, which arms it again. Returns the bits of the changed counters; 0 and errno in `error` on failure.
  unsigned ReadCounters(int* error);

  // Reads cgroup.events, which arms it again, and sets the timer if another check is due. False: the cgroup is gone.
  bool CheckCgroup(bool notified);

  UniqueFd notifying_;
  FileSpec file_;
  std::array<std::atomic<double>, kCounters.size()> values_;
  UniqueFd cgroup_events_;
  Timer timer_;
};

}  // namespace evictd
