#ifndef EVICTD_LINUX_MEMCG_EVENTS_H_
#define EVICTD_LINUX_MEMCG_EVENTS_H_

#include <string>
#include <vector>

#include "linux/unique_fd.h"
#include "linux/waiter.h"

namespace evictd {

// cgroup v2: a file that notifies when it changes (memory.events, memory.events.local, cgroup.events), and the removal
// of its cgroup.
//
// Removing a cgroup wakes nobody who polls its files. But only an empty cgroup can be removed, and cgroup.events tells
// when one becomes empty: from then until it is populated again the watch looks four times a second whether it is still
// there.
class MemcgEvents : public WatchSource {
 public:
  // Throws SystemError.
  MemcgEvents(const std::string& cgroup, const std::string& file);

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;

 private:
  // Reads cgroup.events (which re-arms it) and starts or stops the timer. False where the cgroup is gone.
  bool LookAtCgroup();

  UniqueFd notifying_;
  UniqueFd cgroup_events_;
  UniqueFd timer_;
  bool ticking_ = false;
};

}  // namespace evictd

#endif  // EVICTD_LINUX_MEMCG_EVENTS_H_
