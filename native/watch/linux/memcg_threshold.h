#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "system/linux/unique_fd.h"
#include "watch/linux/waiter.h"

namespace evictd {

// cgroup v1 (Documentation/admin-guide/cgroup-v1/memory.rst, 9): an eventfd registered in cgroup.event_control on
// memory.usage_in_bytes. Fires on crossing in both directions; not when armed beyond the limit. The kernel drops the
// registration when the eventfd is closed.
//
// Registering waits for an RCU grace period (mm/memcontrol-v1.c, __mem_cgroup_usage_register_event), so the armer does
// it.
class MemcgThreshold : public WatchSource {
 public:
  // The detail bits. kMoved: the limit wanted last is registered; read now, for it may have been crossed before.
  // kRefused: it could not be (error()); what was registered before is still.
  enum Detail : unsigned { kMoved = 1, kRefused = 2 };

  // Opens what registering needs; nothing is registered before Arm. `usage_bytes`: absolute; the kernel rounds down to
  // pages. Throws SystemError.
  MemcgThreshold(const std::string& cgroup, uint64_t usage_bytes);

  // Any thread: the next Arm registers this limit.
  void Want(uint64_t usage_bytes) { wanted_ = usage_bytes; }

  // Any thread. False: nothing is registered yet. Else the limit that is.
  bool Registered(uint64_t* usage_bytes) const;

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;
  void Arm(Waiter* waiter, uint64_t id) override;
  bool LeftToArmer() const override { return true; }

 private:
  // Returns 0 or errno.
  int Register(Waiter* waiter, uint64_t id, uint64_t usage_bytes);
  int Write(int event, uint64_t usage_bytes) const;

  UniqueFd event_;
  UniqueFd usage_;
  UniqueFd control_;
  std::atomic<uint64_t> wanted_;
  std::atomic<uint64_t> usage_bytes_{0};
  std::atomic<bool> registered_{false};  // set after usage_bytes_
};

}  // namespace evictd
