#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "read/linux/kernel_text.h"
#include "system/linux/unique_fd.h"
#include "watch/linux/waiter.h"

namespace evictd {

// cgroup v2: a file that notifies when it changes (memory.events, memory.events.local, cgroup.events), which of its
// counters moved, and the removal of its cgroup.
//
// Removing a cgroup wakes nobody who polls its files. But only an empty cgroup can be removed, and cgroup.events tells
// when one becomes empty: from then until it is populated again the watch looks four times a second whether it is still
// there. It also looks once after each notification: another that follows within 10 ms is held back by the kernel, and
// dropped where the cgroup is removed meanwhile (kernel/cgroup/cgroup.c, cgroup_file_notify and cgroup_rm_file).
class MemcgEvents : public WatchSource {
 public:
  // The detail bit of a counter is 1 << its place here. The first six are memory.events', the others cgroup.events'.
  static constexpr std::array<const char*, 8> kCounters = {"low",      "high",           "max",       "oom",
                                                           "oom_kill", "oom_group_kill", "populated", "frozen"};

  // Throws SystemError.
  MemcgEvents(const std::string& cgroup, const std::string& file);

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;

  // Any thread: as last read, at the start or when it fired. NaN: not in this file, or this kernel does not have it.
  double Counter(size_t counter) const { return values_[counter].load(std::memory_order_relaxed); }

 private:
  // Reads the file, which arms it again, and keeps the counters. Returns the bits of those that moved; 0 where it
  // cannot be read, with errno in `error`.
  unsigned ReadCounters(int* error);

  // Reads cgroup.events (which re-arms it) and sets the timer where it has to be looked at again. False where the
  // cgroup is gone.
  bool LookAtCgroup(bool notified);

  UniqueFd notifying_;
  FileSpec file_;
  std::array<std::atomic<double>, kCounters.size()> values_;
  UniqueFd cgroup_events_;
  UniqueFd timer_;
};

}  // namespace evictd
