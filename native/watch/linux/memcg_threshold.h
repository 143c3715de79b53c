#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "system/linux/unique_fd.h"
#include "watch/linux/waiter.h"

namespace evictd {

// cgroup v1 (Documentation/admin-guide/cgroup-v1/memory.rst, 9): an eventfd registered on memory.usage_in_bytes by
// cgroup.event_control. Fires on crossing in both directions, but not when armed beyond the limit. The kernel drops the
// registration when the eventfd is closed.
//
// Registering waits for an RCU grace period (mm/memcontrol-v1.c, __mem_cgroup_usage_register_event), so the armer does
// it.
class MemcgThreshold : public WatchSource {
 public:
  // kMoved: the wanted limit is registered; it may have been crossed before, so read now. There is no such wake where
  // usage is below it, and the registration before it has not fired: a pass would only find that. The first one, and
  // one after kRefused, always wakes. kRefused: it could not be registered (error()); the previous registration stays.
  enum Detail : unsigned { kMoved = 1, kRefused = 2 };

  // Opens the files; Arm registers. `usage_bytes`: absolute; the kernel rounds down to pages. Throws SystemError.
  MemcgThreshold(const std::string& cgroup, uint64_t usage_bytes);

  // Any thread: the next Arm registers this limit.
  void Want(uint64_t usage_bytes) { wanted_ = usage_bytes; }

  // Any thread. Returns false if no limit is registered.
  bool Registered(uint64_t* usage_bytes) const;

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;
  void Arm(Waiter* waiter, uint64_t id) override;
  bool LeftToArmer() const override { return true; }

 private:
  // `fired`: the registration that it replaces has fired, and the waiter has not seen that.
  int Register(Waiter* waiter, uint64_t id, uint64_t usage_bytes, bool* fired);
  // Whether usage is below a limit now; false if it cannot be read.
  bool IsBelow(uint64_t usage_bytes) const;
  int Write(int event, uint64_t usage_bytes) const;

  UniqueFd event_;
  UniqueFd usage_;
  UniqueFd control_;
  std::atomic<uint64_t> wanted_;
  std::atomic<uint64_t> usage_bytes_{0};
  std::atomic<bool> registered_{false};  // set after usage_bytes_
  bool was_refused_ = false;             // armer thread only
};

}  // namespace evictd
