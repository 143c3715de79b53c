#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include "system/linux/unique_fd.h"
#include "watch/linux/waiter.h"

namespace evictd {

// The end of many processes, each held by a pidfd: fires when some have exited, and is gone when all have.
//
// The pidfds are in an epoll set of their own, so that any number of them is one descriptor for the waiter.
class ProcessExit : public WatchSource {
 public:
  // Processes that are gone by now count as exited. Throws SystemError, also where there are processes and none of them
  // can be held.
  explicit ProcessExit(const std::vector<pid_t>& pids);

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;

  // Any thread: those held that have not exited.
  size_t remaining() const { return remaining_; }
  // Those that could not be held (no descriptors left, or not in this pid namespace): nothing is known of their end.
  size_t missed() const { return missed_; }

 private:
  UniqueFd epoll_;
  UniqueFd none_;  // readable where nobody was left at the start
  std::vector<UniqueFd> pidfds_;
  std::atomic<size_t> remaining_{0};
  size_t missed_ = 0;
};

}  // namespace evictd
