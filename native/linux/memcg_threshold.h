#ifndef EVICTD_LINUX_MEMCG_THRESHOLD_H_
#define EVICTD_LINUX_MEMCG_THRESHOLD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "linux/unique_fd.h"
#include "linux/waiter.h"

namespace evictd {

// cgroup v1 (Documentation/admin-guide/cgroup-v1/memory.rst, 9): an eventfd registered in cgroup.event_control on
// memory.usage_in_bytes. Fires on crossing in both directions; not when armed beyond the limit. The kernel drops the
// registration when the eventfd is closed.
class MemcgThreshold : public WatchSource {
 public:
  // `usage_bytes`: absolute; the kernel rounds down to pages. Throws SystemError.
  MemcgThreshold(const std::string& cgroup, uint64_t usage_bytes);

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;

 private:
  UniqueFd event_;
  UniqueFd usage_;
};

}  // namespace evictd

#endif  // EVICTD_LINUX_MEMCG_THRESHOLD_H_
